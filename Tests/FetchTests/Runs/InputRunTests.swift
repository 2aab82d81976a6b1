// What fetch reads: files that are pipes and devices, and a standard input that another process has made non-blocking.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust

@Suite("fetch: what is read", .timeLimit(.minutes(5)))
struct InputRunTests {
    @Test(
        "Where a file is named a pipe or a device can be read",
        arguments: [
            ("mkfifo p; printf 'a=1' > p & fetch -d @p $U; wait", "\n\na=1"),
            ("printf 'a=1' | fetch -d @/dev/stdin $U", "\n\na=1"),
            ("printf '{}' | fetch --json @/dev/stdin $U", "\n\n{}"),
            ("fetch --data-binary @/dev/null $U", "Content-Length: 0\n\n"),
            ("printf 'header \"X-Test: kept\"' | fetch -K /dev/stdin $U", "X-Test: kept\n"),
            ("fetch -K /dev/null $U", "GET /"), ("fetch -b /dev/null $U", "GET /"),
            ("printf '127.0.0.1\\tFALSE\\t/\\tFALSE\\t0\\tsid\\t7\\n' | fetch -b /dev/stdin $U", "Cookie: sid=7\n"),
            ("printf '%s' '%{http_code}' | fetch -w @/dev/stdin $U", "\n200"),
        ])
    func pipes(line: String, words: String) async throws {
        let server = try LoopbackServer.start(router: RequestTests.mirror)
        let place = try Workplace()
        let run = try await place.shell("U=\(server.url("/"))\n\(line)")
        #expect(run.exitCode == 0 && run.complaints.isEmpty, "\(run.complaints)")
        #expect(run.output.contains(words), "\(run.output)")
        await server.stop()
    }

    @Test("Certificates, keys and tags come through pipes, too")
    func trust() async throws {
        let root = try CertificateFactory.root()
        let tls = ServerTLS(identity: try root.issue(.server(hosts: ["127.0.0.1"])).identity)
        let server = try LoopbackServer.start(.init(tls: tls)) { request in
            .text(request.fields.first("If-None-Match") ?? "none")
        }
        let place = try Workplace()
        try place.write(root.certificate.pem, to: "ca")
        let anchors = try await place.shell("fetch --cacert /dev/stdin \(server.url("/")) < ca")
        #expect(anchors.exitCode == 0 && anchors.output == "none", "\(anchors.complaints)")
        let tag = try await place.shell(
            "echo '\"v\"' | fetch --cacert ca --etag-compare /dev/stdin \(server.url("/"))")
        #expect(tag.exitCode == 0 && tag.output == "\"v\"", "\(tag.complaints)")
        let folder = try await place.shell("fetch --cacert ca --etag-compare . \(server.url("/"))")
        #expect(folder.exitCode == 26 && folder.complaints.contains(". cannot be read: Is a directory"))
        let key = try await place.shell("fetch --cacert ca -E ca --key nope \(server.url("/"))")
        #expect(key.exitCode == 58 && key.complaints == "fetch: nope cannot be read: No such file or directory\n")
        // A folder's pipe is no file of certificates, and is not waited for.
        let pipe = try await place.shell("mkdir all; cp ca all; mkfifo all/p; fetch --capath all \(server.url("/"))")
        #expect(pipe.exitCode == 0, "\(pipe.complaints)")
        await server.stop()
    }

    @Test(
        "A standard input that is non-blocking is waited for",
        arguments: [
            ("-T -", "http", "PUT", "said\n"), ("-d @-", "http", "POST", "said"),
            ("--linger 0", "ws", "said", "said\n"),
        ])
    func nonblocking(options: String, scheme: String, begin: String, end: String) async throws {
        let server = try LoopbackServer.start { request in
            request.path == "/socket" ? .webSocket() : RequestTests.mirror(request)
        }
        let place = try Workplace()
        let url = scheme + server.url(scheme == "ws" ? "/socket" : "/").dropFirst(4)
        // dd sets the flag of the open file, which fetch then has as its input. The second fetch has come and gone
        // before there is anything to read.
        let run = try await place.shell(
            """
            mkfifo in
            { dd iflag=nonblock count=0 2>/dev/null; exec fetch -sS \(options) \(url); } < in & child=$!
            exec 3> in
            fetch -so /dev/null \(server.url("/other"))
            echo said >&3; exec 3>&-; wait $child
            """)
        #expect(run.exitCode == 0 && run.complaints.isEmpty, "\(run.complaints)")
        #expect(run.output.hasPrefix(begin) && run.output.hasSuffix(end), "\(run.output)")
        await server.stop()
    }

    @Test("Words of the command line that are not UTF-8 are refused, and no other bytes stand in for theirs")
    func words() async throws {
        let server = try LoopbackServer.start(router: RequestTests.mirror)
        let place = try Workplace()
        for option in ["-d \"a=$X\"", "-H \"A: $X\"", "-o \"q$X\"", "-T \"$X\""] {
            let run = try await place.shell("X=$(printf '\\351'); fetch \(option) \(server.url("/"))")
            #expect(run.exitCode == 2 && run.complaints.contains("word 2 behind fetch is not UTF-8"), "\(option)")
        }
        #expect(server.stats.requests == 0 && place.names.isEmpty)
        #expect(try await place.shell("fetch -d 'a=\u{E9}' \(server.url("/"))").output.hasSuffix("\n\na=\u{E9}"))
        await server.stop()
    }

    @Test("A standard input that cannot be read is told of, with 26, and nothing is sent in its place")
    func unreadable() async throws {
        let server = try LoopbackServer.start { _ in .webSocket() }
        let place = try Workplace()
        let url = "ws" + server.url("/").dropFirst(4)
        let socket = try await place.shell("fetch --linger 0 \(url) < .")
        #expect(socket.exitCode == 26 && socket.output.isEmpty)
        #expect(socket.complaints == "fetch: standard input cannot be read: Is a directory\n")
        let body = try await place.shell("fetch -d @- \(server.url("/")) < .")
        #expect(body.exitCode == 26 && body.complaints == socket.complaints)
        #expect(server.stats.requests <= 1)
        // What is read only while it is sent: the request has begun by then.
        let streamed = try await place.shell("fetch -T - \(server.url("/")) < .")
        #expect(streamed.exitCode == 26 && streamed.complaints == socket.complaints)
        await server.stop()
    }
}
