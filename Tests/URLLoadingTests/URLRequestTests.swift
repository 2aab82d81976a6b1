// Requests as values and as objects (behaviour 5.1).

import Foundation
import Testing
import URLLoading

@Suite("Requests")
struct URLRequestTests {
    private func request(_ text: String = "https://example.com/a") throws -> URLRequest {
        URLRequest(url: try #require(URL(string: text)))
    }

    @Test("B5.1: a new request")
    func newRequest() throws {
        let request = try request()
        #expect(request.httpMethod == "GET")
        #expect(request.allHTTPHeaderFields == nil)
        #expect(request.cachePolicy == .useProtocolCachePolicy)
        #expect(request.timeoutInterval == 60)
        #expect(request.httpBody == nil)
        #expect(request.httpBodyStream == nil)
        #expect(request.httpShouldHandleCookies)
        #expect(!request.httpShouldUsePipelining)
        #expect(request.mainDocumentURL == nil)
        #expect(request.networkServiceType == .default)
        #expect(request.attribution == .developer)
        #expect(request.allowsCellularAccess && request.allowsExpensiveNetworkAccess)
        #expect(request.allowsConstrainedNetworkAccess && !request.allowsUltraConstrainedNetworkAccess)
        #expect(!request.assumesHTTP3Capable && !request.requiresDNSSECValidation && !request.allowsPersistentDNS)
        #expect(request.cookiePartitionIdentifier == nil)
    }

    @Test(
        "B5.2: well-known methods are upper-cased, others kept",
        arguments: [
            ("get", "GET"), ("HeAd", "HEAD"), ("post", "POST"), ("put", "PUT"), ("delete", "DELETE"),
            ("connect", "CONNECT"), ("patch", "patch"), ("options", "options"), ("trace", "trace"),
            ("po\u{17F}t", "po\u{17F}t"),
        ])
    func methods(given: String, wanted: String) throws {
        var request = try request()
        request.httpMethod = given
        #expect(request.httpMethod == wanted)
        request.httpMethod = nil
        #expect(request.httpMethod == "GET")
    }

    @Test("B5.3, B5.4, B5.5: each of a thousand fields is found, replaced, joined and removed")
    func manyFields() throws {
        var request = try request()
        for number in 0..<1_000 { request.setValue("\(number)", forHTTPHeaderField: "X-Field-\(number)") }
        for number in stride(from: 0, to: 1_000, by: 3) {
            request.setValue("new", forHTTPHeaderField: "x-fIELD-\(number)")
            request.addValue("more", forHTTPHeaderField: "X-FIELD-\(number)")
        }
        for number in 500..<990 { request.setValue(nil, forHTTPHeaderField: "x-field-\(number)") }
        request.setValue("again", forHTTPHeaderField: "x-Field-500")
        request.setValue("last", forHTTPHeaderField: "X-FIELD-999")
        let fields = try #require(request.allHTTPHeaderFields)
        #expect(fields.count == 511)
        #expect(fields["X-Field-0"] == "new,more" && fields["X-Field-1"] == "1" && fields["X-Field-498"] == "new,more")
        #expect(fields["x-Field-500"] == "again" && fields["X-Field-999"] == "last")
        #expect(request.value(forHTTPHeaderField: "X-FIELD-501") == nil)
        #expect(request.value(forHTTPHeaderField: "X-FIELD-991") == "991")
        var other = try self.request()
        other.allHTTPHeaderFields = fields
        #expect(other.value(forHTTPHeaderField: "x-field-499") == "499" && other == request)
    }

    @Test("B5.3, B5.4, B5.5: fields are found in any case, keep their first spelling, are joined and removed")
    func fields() throws {
        var request = try request()
        request.setValue("text/html", forHTTPHeaderField: "Accept")
        request.setValue("text/plain", forHTTPHeaderField: "ACCEPT")
        #expect(request.allHTTPHeaderFields == ["Accept": "text/plain"])
        request.addValue("image/png", forHTTPHeaderField: "accept")
        #expect(request.value(forHTTPHeaderField: "aCCept") == "text/plain,image/png")
        request.addValue("1", forHTTPHeaderField: "X-New")
        #expect(request.value(forHTTPHeaderField: "x-new") == "1")
        request.setValue(nil, forHTTPHeaderField: "ACCEPT")
        #expect(request.allHTTPHeaderFields == ["X-New": "1"])
        request.allHTTPHeaderFields = ["Only": "this"]
        #expect(request.allHTTPHeaderFields == ["Only": "this"])
        request.allHTTPHeaderFields = nil
        #expect(request.allHTTPHeaderFields == nil)
    }

    @Test(
        "B5.6: values with a line break or NUL are refused",
        arguments: [
            "a\r\nb", "a\nb", "a\rb", "a\u{0}b", "a\r\n", "\n", "a\n b",
        ])
    func refusedValues(value: String) throws {
        var request = try request()
        request.setValue("old", forHTTPHeaderField: "X")
        request.setValue(value, forHTTPHeaderField: "X")
        #expect(request.value(forHTTPHeaderField: "X") == "old")
        request.addValue(value, forHTTPHeaderField: "X")
        #expect(request.value(forHTTPHeaderField: "X") == "old")
        request.setValue(value, forHTTPHeaderField: "Y")
        #expect(request.value(forHTTPHeaderField: "Y") == nil)
        request.allHTTPHeaderFields = ["Z": value]
        #expect(request.allHTTPHeaderFields == [:], "B5.71: it was set")
    }

    @Test("B5.71: fields that were set to nothing are an empty dictionary, to which fields can be added")
    func emptyFields() throws {
        var request = try request()
        request.setValue("a\nb", forHTTPHeaderField: "X")
        request.setValue(nil, forHTTPHeaderField: "X")
        #expect(request.allHTTPHeaderFields == nil, "nothing was set yet")
        request.allHTTPHeaderFields = [:]
        #expect(request.allHTTPHeaderFields == [:])
        request.allHTTPHeaderFields?["X"] = "1"
        #expect(request.allHTTPHeaderFields == ["X": "1"] && request.value(forHTTPHeaderField: "x") == "1")
        request.setValue(nil, forHTTPHeaderField: "X")
        #expect(request.allHTTPHeaderFields == [:])
        #expect(try request == self.request(), "requests without fields are the same request")
        request.allHTTPHeaderFields = nil
        #expect(request.allHTTPHeaderFields == nil)

        let object = NSMutableURLRequest(url: try #require(request.url))
        object.allHTTPHeaderFields = [:]
        object.allHTTPHeaderFields?["X"] = "1"
        #expect(object.allHTTPHeaderFields == ["X": "1"])
        object.setValue(nil, forHTTPHeaderField: "X")
        #expect((object.copy() as? NSURLRequest)?.allHTTPHeaderFields == [:])
    }

    @Test("B5.6: a folded value is accepted", arguments: ["a\r\n b", "a\r\n\tb"])
    func foldedValues(value: String) throws {
        var request = try request()
        request.setValue(value, forHTTPHeaderField: "X")
        #expect(request.value(forHTTPHeaderField: "X") == value)
    }

    @Test("B5.8: body and body stream exclude each other")
    func bodies() throws {
        var request = try request()
        request.httpBody = Data("x".utf8)
        let stream = InputStream(data: Data())
        request.httpBodyStream = stream
        #expect(request.httpBody == nil)
        #expect(request.httpBodyStream === stream)
        request.httpBody = Data("y".utf8)
        #expect(request.httpBodyStream == nil)
        #expect(request.httpBody == Data("y".utf8))
    }

    @Test("B5.9: initialisers make the URL absolute, an assignment keeps its base")
    func relativeURL() throws {
        let base = try #require(URL(string: "http://example.com/dir/"))
        let relative = try #require(URL(string: "file", relativeTo: base))
        var request = URLRequest(url: relative)
        #expect(request.url?.baseURL == nil)
        #expect(request.url?.absoluteString == "http://example.com/dir/file")
        request.url = relative
        #expect(request.url?.baseURL == base)
    }

    @Test("B5.11: equality and hash")
    func equality() throws {
        let one = try request()
        var other = try request()
        #expect(one == other && one.hashValue == other.hashValue)
        other.setValue("1", forHTTPHeaderField: "X")
        #expect(one != other)
        var third = try request()
        third.setValue("1", forHTTPHeaderField: "x")
        #expect(third == other && third.hashValue == other.hashValue)
        let changes: [@Sendable (inout URLRequest) -> Void] = [
            { $0.httpMethod = "PUT" }, { $0.httpBody = Data([1]) }, { $0.timeoutInterval = 3 }, { $0.url = nil },
            { $0.cachePolicy = .reloadIgnoringCacheData }, { $0.mainDocumentURL = $0.url },
            { $0.httpShouldHandleCookies = false }, { $0.allowsCellularAccess = false },
            { $0.networkServiceType = .background }, { $0.attribution = .user },
            { $0.httpBodyStream = InputStream(data: Data()) }, { $0.cookiePartitionIdentifier = "p" },
        ]
        for change in changes {
            var changed = one
            change(&changed)
            #expect(changed != one)
        }
    }

    @Test("A copy of a value is independent")
    func copyOnWrite() throws {
        let one = try request()
        var other = one
        other.httpMethod = "PUT"
        #expect(one.httpMethod == "GET")
        #expect(other.httpMethod == "PUT")
    }

    @Test("Requests bridge to NSURLRequest and back")
    func bridging() throws {
        var request = try request()
        request.setValue("1", forHTTPHeaderField: "X")
        let object = request as NSURLRequest
        #expect(object.value(forHTTPHeaderField: "x") == "1")
        #expect(object as URLRequest == request)
        let mutable = try #require(object.mutableCopy() as? NSMutableURLRequest)
        mutable.httpMethod = "post"
        mutable.setValue("2", forHTTPHeaderField: "X")
        mutable.addValue("3", forHTTPHeaderField: "X")
        #expect(mutable.httpMethod == "POST")
        #expect(mutable.value(forHTTPHeaderField: "X") == "2,3")
        #expect(request.value(forHTTPHeaderField: "X") == "1")
        #expect(object.httpMethod == "GET")
        let copy = try #require(mutable.copy() as? NSURLRequest)
        #expect(!(copy is NSMutableURLRequest))
        mutable.httpMethod = "PUT"
        #expect(copy.httpMethod == "POST")
        #expect((mutable as URLRequest).httpMethod == "PUT")
        let any: Any = request as NSURLRequest
        #expect((any as? NSURLRequest)?.isEqual(request as NSURLRequest) == true)
        #expect(NSMutableURLRequest().url == nil)
    }

    @Test("B5.38: requests survive archiving, without a body stream")
    func archiving() throws {
        let object = NSMutableURLRequest(
            url: try #require(URL(string: "https://example.com/a?b")), cachePolicy: .returnCacheDataElseLoad,
            timeoutInterval: 7.5)
        object.httpMethod = "PATCH"
        object.setValue("1", forHTTPHeaderField: "X-One")
        object.httpBody = Data("body".utf8)
        object.allowsCellularAccess = false
        object.attribution = .user
        object.mainDocumentURL = URL(string: "https://example.org")
        let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSMutableURLRequest.self, from: data))
        #expect(read.isEqual(object))
        #expect(read.timeoutInterval == 7.5)
        object.httpBodyStream = InputStream(data: Data())
        let streamed = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        let without = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSMutableURLRequest.self, from: streamed)
        #expect(without?.httpBodyStream == nil)
    }

    @Test("Descriptions show the URL")
    func descriptions() throws {
        #expect("\(try request())" == "https://example.com/a")
        var request = try request()
        request.url = nil
        #expect("\(request)" == "url: nil")
        #expect(Mirror(reflecting: request).children.count == 12)
    }

    @Test("Descriptions of objects name the class, the place in memory and the URL, without its password")
    func objectDescriptions() throws {
        let url = try #require(URL(string: "https://user:secret@example.com/a"))
        let object = NSMutableURLRequest(url: url)
        let place = String(UInt(bitPattern: ObjectIdentifier(object)), radix: 16)
        #expect(object.description == "<NSMutableURLRequest: 0x\(place)> { URL: https://user@example.com/a }")
        object.url = nil
        #expect(object.description.hasSuffix("> { URL: (null) }"))
        #expect(NSURLRequest(url: url).description.hasPrefix("<NSURLRequest: 0x"))
    }

    @Test("Every property reads back what was set, in all three forms")
    func everyProperty() throws {
        let url = try #require(URL(string: "https://example.com/set"))
        let object = NSMutableURLRequest()
        object.url = url
        object.cachePolicy = .reloadRevalidatingCacheData
        object.timeoutInterval = 12
        object.mainDocumentURL = url
        object.networkServiceType = .callSignaling
        object.allowsCellularAccess = false
        object.allowsExpensiveNetworkAccess = false
        object.allowsConstrainedNetworkAccess = false
        object.allowsUltraConstrainedNetworkAccess = true
        object.assumesHTTP3Capable = true
        object.attribution = .user
        object.requiresDNSSECValidation = true
        object.allowsPersistentDNS = true
        object.cookiePartitionIdentifier = "partition"
        object.allHTTPHeaderFields = ["A": "b"]
        object.httpBody = Data([1, 2])
        object.httpShouldHandleCookies = false
        object.httpShouldUsePipelining = true
        let immutable = try #require(object.copy() as? NSURLRequest)
        for one in [object, immutable] {
            #expect(one.url == url && one.mainDocumentURL == url)
            #expect(one.cachePolicy == .reloadRevalidatingCacheData && one.timeoutInterval == 12)
            #expect(one.networkServiceType == .callSignaling && one.attribution == .user)
            #expect(!one.allowsCellularAccess && !one.allowsExpensiveNetworkAccess)
            #expect(!one.allowsConstrainedNetworkAccess && one.allowsUltraConstrainedNetworkAccess)
            #expect(one.assumesHTTP3Capable && one.requiresDNSSECValidation && one.allowsPersistentDNS)
            #expect(one.cookiePartitionIdentifier == "partition")
            #expect(one.allHTTPHeaderFields == ["A": "b"] && one.httpBody == Data([1, 2]))
            #expect(one.httpBodyStream == nil && one.httpMethod == "GET")
            #expect(!one.httpShouldHandleCookies && one.httpShouldUsePipelining)
            #expect(one.isEqual(object) && one.hash == object.hash)
            #expect(one.description.hasSuffix("> { URL: https://example.com/set }"))
        }
        var value = URLRequest(url: url)
        value.cachePolicy = .reloadRevalidatingCacheData
        value.timeoutInterval = 12
        value.mainDocumentURL = url
        value.networkServiceType = .callSignaling
        value.allowsCellularAccess = false
        value.allowsExpensiveNetworkAccess = false
        value.allowsConstrainedNetworkAccess = false
        value.allowsUltraConstrainedNetworkAccess = true
        value.assumesHTTP3Capable = true
        value.attribution = .user
        value.requiresDNSSECValidation = true
        value.allowsPersistentDNS = true
        value.cookiePartitionIdentifier = "partition"
        value.allHTTPHeaderFields = ["A": "b"]
        value.httpBody = Data([1, 2])
        value.httpShouldHandleCookies = false
        value.httpShouldUsePipelining = true
        #expect(value == object as URLRequest)
        #expect(NSURLRequest(url: url).url == url)
    }
}
