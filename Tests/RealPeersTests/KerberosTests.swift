// Negotiate with a real realm and Apache's mod_auth_gssapi. What the access log says about our rounds is the proof.

import Testing
import URLLoadingLoopbackServer

@Suite("Kerberos", .enabled(if: Peers.kerberos != nil, "krb5-kdc or libapache2-mod-auth-gssapi is not installed"))
struct KerberosTests {
    private static let asked = "NSURLAuthenticationMethodNegotiate"

    @Test("B2.11, B2.95: with a ticket a GET and a POST to a host that is named succeed, and no delegate is asked")
    func named() async throws {
        let realm = try await KerberosRealm()
        #expect(try await realm.client("named", "/hello") == ["200", "Hello behind Kerberos."])
        #expect(try await realm.client("named", "/hello", body: "some text").first == "200")
        #expect(
            try await realm.log(4) == [
                "entry /hello status=401 user=- method=GET",
                "entry /hello status=200 user=somebody@PEERS.TEST method=GET",
                "entry /hello status=401 user=- method=POST",
                "entry /hello status=200 user=somebody@PEERS.TEST method=POST",
            ])
    }

    @Test("B2.1, B2.33: a delegate that is asked gives the ticket")
    func given() async throws {
        let realm = try await KerberosRealm()
        #expect(try await realm.client("given", "/hello") == [Self.asked, "200", "Hello behind Kerberos."])
        #expect(
            try await realm.log(2).last == "entry /hello status=200 user=somebody@PEERS.TEST method=GET")
    }

    @Test("B2.36: default handling keeps the ticket from a host that was not named")
    func kept() async throws {
        let realm = try await KerberosRealm()
        #expect(try await realm.client("kept", "/hello").prefix(2) == [Self.asked, "401"])
        // The log is in order: what stands behind the first entry is not the first client's.
        #expect(try await realm.client("kept", "/last").prefix(2) == [Self.asked, "401"])
        #expect(
            try await realm.log(2) == [
                "entry /hello status=401 user=- method=GET", "entry /last status=401 user=- method=GET",
            ])
    }

    @Test("B2.95: without a ticket the refusal is the answer")
    func noTicket() async throws {
        let realm = try await KerberosRealm()
        #expect(try await realm.client("named", "/hello", hasTicket: false).first == "401")
        #expect(try await realm.log(1) == ["entry /hello status=401 user=- method=GET"])
    }

    @Test("fetch shows the ticket with --negotiate only, and to the URL's own server only")
    func fetch() async throws {
        let realm = try await KerberosRealm()
        let status = ["-s", "-o", "/dev/null", "-w", "%{http_code}"]
        #expect(try await realm.run("fetch", status + [realm.url("/hello")]) == ["401"])
        #expect(try await realm.run("fetch", status + ["--negotiate", realm.url("/hello")]) == ["200"])
        let resolved = ["--resolve", "other.test:127.0.0.1", "--negotiate"]
        let leading = try LoopbackServer.start { _ in
            ServerResponse.status(302).adding("Location", realm.url("/hello"))
        }
        #expect(
            try await realm.run("fetch", status + resolved + ["http://other.test:\(leading.port)/"]) == ["401"])
        await leading.stop()
    }
}
