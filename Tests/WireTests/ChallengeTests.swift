// Challenges as servers write them, well and badly.

import Testing
import URLLoadingWire

@Suite("Challenges")
struct ChallengeTests {
    private static func fields(_ values: [String], _ name: FieldName = .wwwAuthenticate) -> Fields {
        var fields = Fields()
        for value in values { fields.append(name, value) }
        return fields
    }

    /// Challenges on one line: `basic realm=[x] | ntlm:token`.
    private static func transcript(_ challenges: [AuthenticationChallenge]) -> String {
        challenges.map { challenge in
            let parameters = challenge.parameters.map { " \($0.name)=[\($0.value)]" }.joined()
            return challenge.scheme + (challenge.token.map { ":\($0)" } ?? "") + parameters
        }.joined(separator: " | ")
    }

    private func expect(
        _ values: String..., are expected: String, location: SourceLocation = #_sourceLocation
    ) {
        let transcript = Self.transcript(Self.fields(values).challenges(.wwwAuthenticate))
        #expect(transcript == expected, sourceLocation: location)
    }

    @Test("B2.29: schemes and names are case-insensitive, values are tokens or quoted strings")
    func forms() {
        expect("Basic realm=\"x\"", are: "basic realm=[x]")
        expect("bAsIc ReAlM=x", are: "basic realm=[x]")
        expect("Basic realm = \"x y\" ,\tcharset= UTF-8", are: "basic realm=[x y] charset=[UTF-8]")
        expect("Basic   realm=\"a \\\"quoted\\\" \\\\ word\"", are: "basic realm=[a \"quoted\" \\ word]")
        expect("Basic realm=\"\"", are: "basic realm=[]")
        expect("Basic realm=\"grün\"", are: "basic realm=[grün]")
        expect("Negotiate", are: "negotiate")
        expect("Negotiate TlRMTVNTUAAB==", are: "negotiate:TlRMTVNTUAAB==")
        expect("NTLM a-b.c_d~e+f/1=", are: "ntlm:a-b.c_d~e+f/1=")
        expect("New-Scheme a=1,b=2", are: "new-scheme a=[1] b=[2]")
    }

    @Test("B2.29: one field or several hold many challenges, and a comma starts the next one only before a scheme")
    func several() {
        expect("Negotiate, NTLM , Basic realm=\"x\"", are: "negotiate | ntlm | basic realm=[x]")
        expect(
            "Digest realm=\"a\", nonce=\"n\", Basic realm=\"b\"", are: "digest realm=[a] nonce=[n] | basic realm=[b]")
        expect("Digest realm=a,,, nonce=n,,Basic realm=b,,", are: "digest realm=[a] nonce=[n] | basic realm=[b]")
        expect(",, ,Basic realm=b", are: "basic realm=[b]")
        expect("NTLM abc=, Negotiate def, Basic realm=b", are: "ntlm:abc= | negotiate:def | basic realm=[b]")
        expect("Basic realm=\"a\"", "Digest realm=\"b\"", are: "basic realm=[a] | digest realm=[b]")
        // RFC 9110 §11.6.1's own example.
        expect(
            "Basic realm=\"simple\", Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\"",
            are: "basic realm=[simple] | newauth realm=[apps] type=[1] title=[Login to \"apps\"]")
    }

    @Test("B2.29: text inside a quoted value is not taken for a challenge")
    func lookalikes() {
        expect("Digest realm=\"x, Basic realm=y\"", are: "digest realm=[x, Basic realm=y]")
        expect(
            "Digest realm=\"x\\\", Basic realm=\\\"y\", nonce=n", are: "digest realm=[x\", Basic realm=\"y] nonce=[n]")
        expect("Basic realm=\"NTLM abc\", NTLM", are: "basic realm=[NTLM abc] | ntlm")
    }

    @Test("B2.30: a quote that is left open spoils its challenge and not those of other fields")
    func openQuotes() {
        expect("Basic realm=\"x", are: "")
        expect("Basic realm=\"x\\", are: "")
        expect("Basic realm=\"x\\\"", are: "")
        expect("Negotiate, Basic realm=\"x, NTLM", are: "negotiate")
        expect("Basic realm=\"x", "Basic realm=y\"", "NTLM", are: "ntlm")
    }

    @Test("B2.29: malformed challenges are left out, and those around them are found")
    func malformed() {
        expect("", are: "")
        expect(" ,\t,", are: "")
        expect("=", are: "")
        expect("=x, NTLM", are: "ntlm")
        expect("\"Basic realm=x\", NTLM", are: "ntlm")
        expect("Basic realm=x y, NTLM", are: "ntlm")
        expect("Basic realm=\"x\"y, NTLM", are: "ntlm")
        expect("Basic realm=\"x\" title=\"a, b\", NTLM", are: "ntlm")
        expect("Digest realm=a nonce=b, Basic realm=c", are: "basic realm=[c]")
        expect("Digest realm=a, =b, nonce=c, Basic realm=d", are: "digest realm=[a] | basic realm=[d]")
        expect("Basic@ realm=x, NTLM", are: "ntlm")
        expect("realm=x, NTLM", are: "ntlm")
        expect("Digest realm=a, nonce=, Basic realm=b", are: "basic realm=[b]")
        // By the grammar these are tokens of the scheme, not parameters.
        expect("Basic realm=", are: "basic:realm=")
        expect("Basic =x, NTLM", are: "ntlm")
    }

    @Test("R9110 §11.2: a nonce or path without quotes is taken as it stands")
    func bareValues() {
        expect("Digest nonce=ab/c+d==, domain=/x", are: "digest nonce=[ab/c+d==] domain=[/x]")
        expect("Basic realm=user@host", are: "basic realm=[user@host]")
    }

    @Test("R9110 §11.2: of a parameter that comes twice the first counts")
    func twice() {
        let challenge = Self.fields(["Digest realm=a, Realm=b"]).challenges(.wwwAuthenticate).first
        #expect(challenge?["realm"] == "a")
        #expect(challenge?["nonce"] == nil)
    }

    @Test("R9110 §11.6.3: Authentication-Info holds parameters without a scheme")
    func info() {
        let fields = Self.fields(
            ["nextnonce=\"a\\\"b\", , qop=auth, broken, rspauth=\"\"", "NC=00000001"], .authenticationInfo)
        let parameters = fields.authenticationParameters(.authenticationInfo)
        #expect(parameters.map(\.name) == ["nextnonce", "qop", "rspauth", "nc"])
        #expect(parameters.value(of: "nextnonce") == "a\"b")
        #expect(parameters.value(of: "nc") == "00000001")
        #expect(parameters.value(of: "broken") == nil)
        #expect(Fields().authenticationParameters(.authenticationInfo).isEmpty)
    }

    private static let many = [
        "Negotiate", "NTLM TlRM==", "Digest realm=\"a, b\", nonce=\"n\\\"n\", qop=\"auth,auth-int\", stale=FALSE",
        "Basic realm=\"x\", charset=\"UTF-8\"", "Other", "Digest realm=c , nonce = d",
    ]

    @Test("B2.29: the challenges that are read do not depend on how they are spread over fields")
    func spreading() {
        let expected = Self.transcript(Self.fields(Self.many).challenges(.wwwAuthenticate))
        for breaks in 0..<(1 << (Self.many.count - 1)) {
            var values = [Self.many[0]]
            for (index, challenge) in Self.many.dropFirst().enumerated() {
                if breaks >> index & 1 == 1 {
                    values.append(challenge)
                } else {
                    values[values.count - 1] += ", " + challenge
                }
            }
            #expect(Self.transcript(Self.fields(values).challenges(.wwwAuthenticate)) == expected, "\(values)")
        }
    }

    @Test("B2.29: a field that is cut off anywhere harms the challenge in which it is cut and no earlier one")
    func cutting() {
        let whole = Self.many.joined(separator: ", ")
        let expected = Self.fields([whole]).challenges(.wwwAuthenticate)
        #expect(expected.count == Self.many.count)
        for count in 0...whole.utf8.count {
            let cut = String(decoding: whole.utf8.prefix(count), as: UTF8.self)
            let found = Self.fields([cut]).challenges(.wwwAuthenticate)
            let untouched = Self.many.indices.filter { Self.many[...$0].joined(separator: ", ").utf8.count <= count }
                .count
            #expect(found.prefix(untouched) == expected.prefix(untouched), "cut after \(count) bytes")
            #expect(found.count <= untouched + 2, "cut after \(count) bytes")
        }
    }

    @Test("B2.29: a value of commas, quotes or backslashes without end is read in time that grows with its length")
    func hostile() {
        for unit in [",", "\"", "\\", "=", "a=", "a ", "a,", "\"\\", "a=\"", "a=b,", "Basic "] {
            let value = String(repeating: unit, count: 50_000)
            let challenges = Self.fields([value, "NTLM"]).challenges(.wwwAuthenticate)
            #expect(challenges.last?.scheme == "ntlm", "\(unit)")
        }
    }

    @Test("R4648 §10: base64 of the RFC's examples, both ways")
    func base64() {
        let examples = [
            "": "", "f": "Zg==", "fo": "Zm8=", "foo": "Zm9v", "foob": "Zm9vYg==", "fooba": "Zm9vYmE=",
            "foobar": "Zm9vYmFy",
        ]
        for (text, encoded) in examples {
            #expect(Base64.encode(text.utf8) == encoded)
            #expect(Base64.decode(encoded) == Array(text.utf8))
            #expect(Base64.decode(encoded.filter { $0 != "=" }) == Array(text.utf8))
        }
        let all = (0...255).map { UInt8($0) }
        #expect(Base64.decode(Base64.encode(all)) == all)
        #expect(Base64.encode([0xFB, 0xFF]) == "+/8=")
        for broken in ["Z", "Zg=", "Zg===", "Z===", "====", "Zg==Zg==", "Zm9v=", "Zm 9", "Zm9v\n", "Zm-_", "Zmé"] {
            #expect(Base64.decode(broken) == nil, "\(broken)")
        }
    }
}
