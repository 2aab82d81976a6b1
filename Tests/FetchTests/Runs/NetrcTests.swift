// --netrc: how its files are read, and that a login goes to its own host and nowhere else.

import Foundation
import Testing
import URLLoadingFetch
import URLLoadingLoopbackServer

@Suite("fetch: files of logins")
struct NetrcTests {
    private func login(_ text: String, _ url: String = "http://host/") throws -> Login? {
        try Netrc(text).login(for: try #require(URL(string: url)))
    }

    @Test("Entries, over one line or many, with quotes, remarks, macros and a default")
    func entries() throws {
        let ann = Login(name: "ann", password: "secret")
        #expect(try login("machine host login ann password secret") == ann)
        #expect(try login("# logins\nmachine HOST\n\tlogin ann # mine\r\n\tpassword secret\n", "http://Host:1/") == ann)
        #expect(try login("machine other login x password y machine host login ann password secret") == ann)
        #expect(try login("machine host account a password secret login ann") == ann)
        #expect(try login("machine host login ann password #1") == Login(name: "ann", password: "#1"))
        #expect(
            try login("machine host login \"ann b\" password \"a\\\"\\\\\\tb\"")
                == Login(name: "ann b", password: "a\"\\\tb"))
        #expect(try login("macdef init\nmachine host login evil\n\nmachine host login ann password secret") == ann)
        #expect(try login("machine ::1 login ann password secret", "http://[::1]:8080/") == ann)
        #expect(try login("default login ann password secret") == ann)
        #expect(try login("machine host login ann") == Login(name: "ann", password: ""))
        #expect(try login("machine host password secret") == nil)
        #expect(try login("machine ost login ann machine host.b login ann") == nil)
        // A URL that names a user is left alone.
        #expect(try login("machine host login ann password secret", "http://bob@host/") == nil)
        #expect("\(try Netrc("machine host login ann password secret"))" == "logins")
    }

    @Test(
        "What is not understood is told by its line, never by its words",
        arguments: [
            ("machine host\nlogin ann password my secret", 2), ("login ann", 1), ("machine", 1), ("\n\npassword x", 3),
            ("machine host login \"ann\nmachine b", 1), ("machine a login b password \"c\\", 1),
        ])
    func mistakes(text: String, line: Int) {
        #expect(throws: Netrc.Mistake.self) { try Netrc(text) }
        do throws(Netrc.Mistake) {
            _ = try Netrc(text)
        } catch {
            #expect(error.line == line)
        }
    }

    private static func door(_ request: ServerRequest) -> ServerResponse {
        guard let proof = request.fields.first(.authorization) else {
            return ServerResponse.text("who?", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
        }
        let words = Data(base64Encoded: String(proof.dropFirst("Basic ".count))) ?? Data()
        return .text(String(decoding: words, as: UTF8.self))
    }

    @Test("The login of the URL's host is used when it is asked for, and not for a host that a redirect leads to")
    func hosts() async throws {
        let other = try LoopbackServer.start(router: Self.door)
        let target = "http://localhost:\(other.port)/"
        let server = try LoopbackServer.start { request in
            request.path == "/away" ? ServerResponse.status(302).adding("Location", target) : Self.door(request)
        }
        let place = try Workplace()
        try place.write(
            "machine 127.0.0.1 login ann password secret\nmachine localhost login bob password other\n", to: ".netrc")
        _ = try await place.shell("chmod 600 .netrc")
        let home = ["HOME": place.path as String?]
        #expect(try await place.shell("fetch -n \(server.url("/"))", changing: home).output == "ann:secret")
        #expect(try await place.shell("fetch --netrc \(server.url("/away"))", changing: home).output == "who?")
        #expect(try await place.shell("fetch -n \(target)", changing: home).output == "bob:other")
        let both = try await place.shell("fetch -n \(server.url("/")) \(target)", changing: home)
        #expect(both.output == "ann:secretbob:other")
        let told = try await place.shell("fetch -vn --har har \(server.url("/"))", changing: home)
        #expect(!told.complaints.contains("secret") && place.text("har")?.contains("secret") == false)
        #expect(!told.complaints.contains(Data("ann:secret".utf8).base64EncodedString()))
        #expect(try await place.shell("fetch \(server.url("/"))", changing: home).output == "who?")
        await server.stop()
        await other.stop()
    }

    @Test("A file at home that others may read is refused, one that was named gives a warning; what is missing is 26")
    func rights() async throws {
        let server = try LoopbackServer.start(router: Self.door)
        let place = try Workplace()
        let home = ["HOME": place.path as String?]
        let url = server.url("/")
        let missing = try await place.shell("fetch -n \(url)", changing: home)
        #expect(missing.exitCode == 26 && missing.complaints.contains("/.netrc cannot be read: No such file"))
        try place.write("machine 127.0.0.1 login ann password secret", to: ".netrc")
        _ = try await place.shell("chmod 640 .netrc")
        let open = try await place.shell("fetch -n \(url)", changing: home)
        #expect(open.exitCode == 26 && open.output.isEmpty)
        #expect(open.complaints.contains("others may read or change it: chmod 600"))
        let named = try await place.shell("fetch --netrc-file .netrc \(url)")
        #expect(
            named.output == "ann:secret" && named.complaints.contains("warning: .netrc holds passwords, and others"))
        #expect(try await place.shell("fetch -s --netrc-file .netrc \(url)").complaints.isEmpty)
        _ = try await place.shell("chmod 600 .netrc; mkfifo pipe; chmod 600 pipe")
        #expect(try await place.shell("fetch --netrc-file .netrc \(url)").complaints.isEmpty)
        let piped = try await place.shell("cat .netrc > pipe & fetch --netrc-file pipe \(url)")
        #expect(piped.output == "ann:secret")
        try place.write("machine 127.0.0.1 login ann password my secret", to: "torn")
        let torn = try await place.shell("chmod 600 torn; fetch --netrc-file torn \(url)")
        #expect(torn.exitCode == 26 && torn.complaints == "fetch: torn is not understood in line 1\n")
        let large = try await place.shell("fetch --netrc-file /dev/zero \(url)")
        #expect(large.exitCode == 26 && large.complaints.contains("too large"))
        await server.stop()
    }
}
