// Schemes other than HTTP: what is sent arrives, and what cannot be meant leaves everything as it was.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("fetch: ftp, file and data")
struct OtherSchemeRunTests {
    private static func server() throws -> FTPServer {
        try FTPServer.start { options in
            options.files = ["/old": Array("old".utf8)]
            options.users = ["me": "secret"]
        }
    }

    @Test("-T stores a file on an FTP server, and so does -T - with standard input")
    func uploads() async throws {
        let server = try Self.server()
        let place = try Workplace()
        try place.write("of a file", to: "f")
        let url = "ftp://127.0.0.1:\(server.port)"
        let input = try await place.shell("printf 'of a pipe' | fetch -u me:secret -T - \(url)/old")
        #expect(input.exitCode == 0 && input.output.isEmpty, "\(input.complaints)")
        let file = try await place.shell("fetch -u me:secret -T f \(url)/")
        #expect(file.exitCode == 0 && file.output.isEmpty, "\(file.complaints)")
        #expect(server.files["/old"] == Array("of a pipe".utf8) && server.files["/f"] == Array("of a file".utf8))
    }

    @Test("What ftp, file and data cannot do is refused before anything is asked for")
    func refused() async throws {
        let server = try Self.server()
        let place = try Workplace()
        try place.write("0123456789", to: "f")
        for url in ["ftp://127.0.0.1:\(server.port)/old", "file://\(place.path)/f", "data:,x"] {
            for options in ["-X DELETE", "-I", "-r 0-4", "--json 1", "-d a=b", "-z 2026-11-28", "-H 'A: b'"] {
                let run = try await place.shell("fetch \(options) '\(url)'")
                #expect(run.exitCode == 2 && run.output.isEmpty, "\(options) \(url): \(run.complaints)")
            }
        }
        #expect(server.commands.isEmpty)
        #expect(try await place.shell("fetch file://\(place.path)/f data:,x").output == "0123456789x")
    }

    @Test("-C N leaves the file as it was, with 36: ftp, file and data are asked for the whole")
    func continued() async throws {
        let server = try Self.server()
        let place = try Workplace()
        try place.write("0123456789", to: "f")
        for url in ["ftp://127.0.0.1:\(server.port)/old", "file://\(place.path)/f", "data:,hello"] {
            let run = try await place.shell("printf ZZ > kept; fetch -C 2 -o kept '\(url)'")
            #expect(run.exitCode == 36 && run.complaints.contains("kept is as it was"), "\(url): \(run.complaints)")
            #expect(place.text("kept") == "ZZ", "\(url)")
        }
        #expect(try await place.shell("fetch -s -C 0 -o whole data:,hello").exitCode == 0)
        #expect(place.text("whole") == "hello")
    }

    @Test("A login that an FTP server refuses ends with 67 and is no proxy's; a server without room is told of by 7")
    func refusals() async throws {
        let server = try Self.server()
        let place = try Workplace()
        let login = try await place.shell("fetch -u me:wrong ftp://127.0.0.1:\(server.port)/old")
        #expect(login.exitCode == 67 && login.complaints.contains("refused the user name"), "\(login.complaints)")
        #expect(!login.complaints.contains("proxy") && !login.complaints.contains("-u NAME"))
        let busy = try FTPServer.start { $0.greeting = "421 too many" }
        let full = try await place.shell("fetch ftp://127.0.0.1:\(busy.port)/old")
        #expect(full.exitCode == 7 && !full.complaints.contains("proxy"), "\(full.complaints)")
    }

    @Test("What is not there ends as with curl: a file URL with 37, a file of an FTP server with 78")
    func missing() async throws {
        let server = try Self.server()
        let place = try Workplace()
        for path in ["none", "old/none", ""] {
            let run = try await place.shell("printf x > old; fetch -o f 'file://\(place.path)/\(path)'")
            #expect(run.exitCode == 37 && !run.complaints.isEmpty, "\(path): \(run.complaints)")
        }
        for path in ["none", "none/old"] {
            let run = try await place.shell("fetch -u me:secret -o f ftp://127.0.0.1:\(server.port)/\(path)")
            #expect(run.exitCode == 78 && !run.complaints.isEmpty, "\(path): \(run.complaints)")
        }
        #expect(place.text("f") == nil)
    }
}
