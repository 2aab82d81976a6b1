// Texts that come from elsewhere are told apart by their bytes: for Swift's `==` an "é" of one character equals one of
// two.

import Testing
import URLLoadingPolicy
import URLLoadingWire

@Suite("Texts that Unicode takes for equal")
struct ExactTextTests {
    /// The same letter in one character and in two, for `==` equal.
    private let one = "\u{E9}"
    private let two = "e\u{301}"

    private func fields(_ pairs: (FieldName, String)...) -> Fields {
        var fields = Fields()
        for (name, value) in pairs { fields.append(name, value) }
        return fields
    }

    @Test("A text is the same as those of its bytes alone")
    func texts() {
        #expect(one == two && ExactText(one) != ExactText(two) && ExactText(two) == ExactText("e\u{301}"))
        #expect(Set([ExactText(one), ExactText(two), ExactText(one)]).count == 2)
        // Else all forms of a text would lie in one place of a table.
        #expect(one.hashValue == two.hashValue && ExactText(one).hashValue != ExactText(two).hashValue)
        func identity(_ name: String, _ path: String) -> Cookie.Identity {
            Cookie(name: name, value: "", domain: "a.test", isHostOnly: true, path: path, created: 0).identity
        }
        #expect(identity(one, "/").hashValue == identity("\u{E9}", "/").hashValue)
        #expect(identity(one, "/").hashValue != identity(two, "/").hashValue)
        #expect(identity("a", "/" + one).hashValue != identity("a", "/" + two).hashValue)
        let (some, other, none): (String?, String?, String?) = (one, two, nil)
        #expect(some.hasSameBytes(as: one) && !some.hasSameBytes(as: other))
        #expect(!some.hasSameBytes(as: none) && !none.hasSameBytes(as: some) && none.hasSameBytes(as: nil))
    }

    @Test("B9.28: a part with another entity tag belongs to another file")
    func parts() {
        func meaning(_ tag: String) -> ResumedAnswer {
            ResumeRules.meaning(
                ofStatus: 206, fields: fields((.contentRange, "bytes 5-9/10"), (.eTag, tag)), length: 5,
                time: WallTime(seconds: 0), offset: 5, total: 10, validator: .tag("\"\(one)\""))
        }
        #expect(meaning("\"\(one)\"") == .continues(end: 10, total: 10))
        #expect(meaning("\"\(two)\"") == .startsOver)
        #expect(ResumeValidator.tag(one) == .tag("\u{E9}") && ResumeValidator.tag(one) != .tag(two))
    }

    @Test("B7.75: entity tags are compared byte for byte")
    func tags() throws {
        func validators(_ tags: String...) -> Validators {
            var fields = Fields()
            for tag in tags { fields.append(.eTag, tag) }
            return Validators(fields, time: WallTime(seconds: 0))
        }
        let known = try #require(validators("\"\(one)\"").tag)
        for (text, isSame) in [("\"\(one)\"", true), ("W/\"\(one)\"", true), ("\"\(two)\"", false)] {
            let tag = try #require(validators(text).tag)
            #expect(tag.isWeaklyEqual(to: known) == isSame, "\(text)")
        }
        #expect(validators("\"\(two)\"").tag != known && validators("\"\(one)\"").tag == known)
        #expect(validators("\"\(one)\"", "\"\(two)\"").tag == nil, "two tags")
        var latin1 = Fields()
        latin1.append("ETag", latin1: "\"\(one)\"")
        #expect(Validators(latin1, time: WallTime(seconds: 0)).tag != known, "other bytes for the same letter")
    }

    @Test("B7.48, B7.81: a request with other bytes in a field that selects does not select the answer")
    func selection() {
        let selection = Selection(
            answer: fields((.vary, "X-Name")), request: fields(("X-Name", one)), salt: SipHash.Words(1, 2))
        #expect(selection.matches(fields(("X-Name", one))) && !selection.matches(fields(("X-Name", two))))
    }

    @Test("B8.62, B8.34: cookies of other bytes in name or path are other cookies, the Secure ones among them, too")
    func cookies() throws {
        let secure = try #require(CookiePlace(scheme: "https", host: "a.test", port: nil, path: "/"))
        let plain = try #require(CookiePlace(scheme: "http", host: "a.test", port: nil, path: "/"))
        var jar = CookieJar(recordsTouched: true)
        func keep(_ field: String, from place: CookiePlace) throws -> CookieRefusal? {
            let cookie = Cookie(try #require(SetCookie(Array(field.utf8))), from: place, now: 0)
            var isChanged = false
            let refusal = jar.receive(
                cookie, from: CookieContext(place), now: 0, suffixes: { .builtIn }, isChanged: &isChanged)
            #expect(isChanged == (refusal == nil), "\(field)")
            return refusal
        }
        for field in ["\(one)=1", "\(two)=2", "p=1; Path=/\(one)", "p=1; Path=/\(two)", "v=\(one)", "v=\(two)"] {
            #expect(try keep(field, from: plain) == nil)
        }
        #expect(jar.count == 5 && jar.takeTouched().count == 5)
        #expect(jar.all(0).last?.value.hasSameBytes(as: two) == true)
        #expect(try keep("s\(one)=1; Secure; Path=/\(one)", from: secure) == nil)
        #expect(try keep("s\(two)=1; Path=/\(one)", from: plain) == nil)
        #expect(try keep("s\(one)=1; Path=/\(two)", from: plain) == nil)
        #expect(try keep("s\(one)=1; Path=/\(one)", from: plain) == .hidesSecure)
    }

    @Test("B2.28, B2.88: realms and nonces of other bytes are others")
    func realmsAndNonces() throws {
        var rig = try AuthenticationRig()
        #expect(rig.refused("Basic realm=\"\(one)\"").hasPrefix("ask"))
        #expect(rig.answered(.password(AuthenticationRig.password)).hasPrefix("send"))
        // Another realm: the count begins anew (B2.17).
        #expect(rig.refused("Basic realm=\"\(two)\"").hasSuffix(" 0"))
        #expect(rig.machine.failures == 0)
        var digest = try AuthenticationRig()
        _ = digest.refused("Digest realm=\"r\", nonce=\"\(one)\", qop=auth")
        _ = digest.answered(.password(AuthenticationRig.password))
        #expect(digest.refused("Digest realm=\"r\", nonce=\"\(two)\", qop=auth, stale=true").hasPrefix("send"))
    }

    @Test("B16.2, B2.108: sockets whose paths differ in bytes are other places")
    func sockets() throws {
        #expect(Route.direct(overridePath: one) != .direct(overridePath: two))
        #expect(Route.direct(overridePath: one) == .direct(overridePath: "\u{E9}") && Route.direct() == .direct())
        #expect(Route.direct() != .direct(overridePath: one))
        let origin = try AuthenticationRig.origin()
        #expect(AuthenticationSide.server(origin, socket: one) != .server(origin, socket: two))
        #expect(AuthenticationSide.server(origin, socket: one) == .server(origin, socket: "\u{E9}"))
        let proxies = [one, two].map { ProxyServer(kind: .http, path: $0) }
        #expect(proxies[0] != proxies[1] && proxies[0] == ProxyServer(kind: .http, path: "\u{E9}"))
    }
}
