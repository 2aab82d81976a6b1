// Fields and their names: what a list of fields answers, whether it was built or received.

import Testing
import URLLoadingWire

@Suite("Fields")
struct FieldsTests {
    private func fields(_ pairs: (String, String)...) -> Fields {
        var fields = Fields()
        for (name, value) in pairs { fields.append(name, value) }
        return fields
    }

    /// The fields of a head that was received.
    private func received(_ lines: String) throws(WireError) -> Fields {
        var parser = HeadParser(.response)
        var offset = 0
        let bytes = Array(("HTTP/1.1 200 OK\r\n" + lines + "\r\n").utf8)
        guard try parser.parse(bytes.span.bytes, offset: &offset) else { return Fields() }
        return parser.takeFields()
    }

    @Test("B5.44: repeated fields are joined by a comma in order of arrival, Set-Cookie too")
    func combined() throws {
        let fields = try received("Set-Cookie: a=1\r\nVary: x\r\nset-cookie: b=2\r\nSET-COOKIE: c=3\r\n")
        #expect(fields.combined(.setCookie) == "a=1, b=2, c=3")
        #expect(fields.values(.setCookie) == ["a=1", "b=2", "c=3"])
        #expect(fields.first(.setCookie) == "a=1")
        #expect(fields.combined(.vary) == "x")
        #expect(fields.combined(.age) == nil)
        #expect(fields.values(.age) == [])
        #expect(fields.first(.age) == nil)
    }

    @Test("B5.45, B5.46: names keep their spelling and compare without regard to case")
    func names() throws {
        let fields = try received("X-cUsToM: 1\r\ncontent-TYPE: text/plain\r\n")
        #expect(fields.name(at: 0) == "X-cUsToM")
        #expect(fields.name(at: 1) == "content-TYPE")
        #expect(fields.first("x-custom") == "1")
        #expect(fields.contains(.contentType))
        #expect(!fields.contains("X-Custo"))
        #expect(!fields.contains("X-Custom-"))
        #expect(FieldName("Content-Type") == .contentType)
        #expect(FieldName("content-type").hashValue == FieldName("CONTENT-TYPE").hashValue)
        #expect(FieldName("Accept") != FieldName("Expect"))
        #expect(FieldName("@") != FieldName("`"))
        #expect("\(FieldName("eTag"))" == "eTag")
    }

    @Test("B5.47: a value's bytes are UTF-8, else ISO-8859-1")
    func text() throws {
        let fields = fields(("A", "grün"))
        #expect(fields.value(at: 0) == "grün")
        #expect(fields.withValueBytes(at: 0) { $0.count } == 5)
        #expect(fields.withNameBytes(at: 0) { Array($0) } == [0x41])
    }

    @Test("R9110 §5.3: fields keep their order when others are replaced or removed")
    func changing() {
        var fields = fields(("A", "1"), ("B", "2"), ("a", "3"), ("C", "4"))
        fields.replace("A", with: "5")
        #expect(fields == self.fields(("B", "2"), ("C", "4"), ("A", "5")))
        fields.removeAll("b")
        fields.removeAll(.age)
        #expect(fields == self.fields(("C", "4"), ("A", "5")))
        fields.replace(.age, with: "0")
        #expect(fields.count == 3)
        fields.removeAll("c")
        fields.removeAll("A")
        fields.removeAll("Age")
        #expect(fields.isEmpty)
        #expect(fields == Fields())
    }

    @Test("R9110 §5.3: replacing a field over and over does not make the list grow")
    func replacingDoesNotGrow() {
        var fields = fields(("Host", "example.com"))
        for round in 0..<1000 { fields.replace("X", with: "value \(round)") }
        #expect(fields.count == 2)
        #expect(fields.first("X") == "value 999")
        #expect(fields.first(.host) == "example.com")
    }

    @Test("R9110 §5.1: equality ignores the case of names and nothing else")
    func equality() throws {
        #expect(fields(("A", "b")) == fields(("a", "b")))
        #expect(fields(("A", "b")) != fields(("A", "B")))
        #expect(fields(("A", "b")) != fields(("A", "b"), ("A", "b")))
        #expect(fields(("A", "b"), ("C", "d")) != fields(("C", "d"), ("A", "b")))
        #expect(try received("A: b\r\nC:   d \r\n") == fields(("A", "b"), ("C", "d")))
        #expect(fields(("A", "")) == fields(("A", "")))
    }

    @Test("R9110 §5.6.1: a token is found among the members of all lists of that name")
    func tokens() {
        let fields = fields(("Connection", "foo ,\tClose"), ("Connection", "\"a,b\",, bar"), ("X", "close"))
        #expect(fields.hasToken(.connection, "close"))
        #expect(fields.hasToken(.connection, "FOO"))
        #expect(fields.hasToken(.connection, "bar"))
        #expect(fields.hasToken(.connection, "\"a,b\""))
        #expect(!fields.hasToken(.connection, "a"))
        #expect(!fields.hasToken(.connection, "b\""))
        #expect(!fields.hasToken(.connection, "clos"))
        #expect(!fields.hasToken(.upgrade, "close"))
    }

    @Test("R9110 §5.6.4: an open quote or escape at the end of a list harms nothing")
    func brokenQuotes() {
        #expect(fields(("A", "x, \"y, z")).hasToken("A", "x"))
        #expect(!fields(("A", "x, \"y, z")).hasToken("A", "z"))
        #expect(fields(("A", "x, \"y\\")).hasToken("A", "\"y\\"))
        #expect(fields(("A", "\"\\\"\", x")).hasToken("A", "x"))
        #expect(!fields(("A", "")).hasToken("A", "x"))
    }

    @Test("B17.57: a description names fields and tells no value")
    func description() {
        #expect("\(fields(("Authorization", "secret"), ("Accept", "*/*")))" == "[Authorization, Accept]")
    }

    @Test("R9110 §5.6.2: token bytes are the ones the grammar lists")
    func tokenBytes() {
        let token = Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        for byte in UInt8.min...UInt8.max {
            #expect(Tokens.isTokenByte(byte) == token.contains(byte), "\(byte)")
            #expect(Tokens.isControl(byte) == ((byte < 32 && byte != 9) || byte == 127), "\(byte)")
            #expect(Tokens.isWhitespace(byte) == (byte == 32 || byte == 9), "\(byte)")
        }
        #expect(Tokens.isToken("GET"))
        #expect(!Tokens.isToken(""))
        #expect(!Tokens.isToken("a b"))
        #expect(Tokens.isToken([0x41]))
    }

    @Test("R9110 §5.1: the well-known names are spelled as their documents spell them")
    func wellKnownNames() {
        let names: [FieldName] = [
            .accept, .acceptEncoding, .acceptLanguage, .acceptRanges, .age, .authorization, .cacheControl,
            .connection, .contentDisposition, .contentEncoding, .contentLength, .contentLocation, .contentRange,
            .contentType, .cookie, .date, .eTag, .expect, .expires, .host, .ifModifiedSince, .ifNoneMatch, .ifRange,
            .keepAlive, .lastModified, .location, .pragma, .proxyAuthenticate, .proxyAuthorization,
            .range, .referer, .retryAfter, .server, .setCookie, .te, .trailer, .transferEncoding,
            .upgrade, .userAgent, .vary, .wwwAuthenticate,
        ]
        #expect(Set(names).count == names.count)
        for name in names { #expect(Tokens.isToken(name.spelling)) }
        #expect(FieldName.ifNoneMatch.spelling == "If-None-Match")
    }
}
