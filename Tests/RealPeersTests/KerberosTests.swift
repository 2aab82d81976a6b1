// Negotiate with a real realm and Apache's mod_auth_gssapi. What the access log says about our rounds is the proof.

import Testing

@Suite("Kerberos", .enabled(if: Peers.kerberos != nil, "krb5-kdc or libapache2-mod-auth-gssapi is not installed"))
struct KerberosTests {
    @Test("B2.11, B2.95: with a ticket a GET and a POST succeed, and nobody is asked")
    func ticket() async throws {
        let realm = try await KerberosRealm()
        #expect(try await realm.client("/hello") == ["200", "Hello behind Kerberos."])
        #expect(try await realm.client("/hello", body: "some text").first == "200")
        #expect(
            try await realm.log(4) == [
                "entry /hello status=401 user=- method=GET",
                "entry /hello status=200 user=somebody@PEERS.TEST method=GET",
                "entry /hello status=401 user=- method=POST",
                "entry /hello status=200 user=somebody@PEERS.TEST method=POST",
            ])
    }

    @Test("B2.95: without a ticket the refusal is the answer")
    func noTicket() async throws {
        let realm = try await KerberosRealm()
        #expect(try await realm.client("/hello", hasTicket: false).first == "401")
        #expect(try await realm.log(1) == ["entry /hello status=401 user=- method=GET"])
    }
}
