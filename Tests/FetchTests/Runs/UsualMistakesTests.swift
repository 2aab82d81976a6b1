// The usual mistakes: for each fetch says in one line what is wrong, and in a second one what to do.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust
import URLLoadingWire

@Suite("fetch: usual mistakes")
struct UsualMistakesTests {
    /// A line of the shell, in which `$U` is a server of http, `$S` one of https whose certificate leads to no known
    /// root, `$P` and `$Q` their ports.
    struct UsualMistake: Sendable, CustomTestStringConvertible {
        let line: String
        let exitCode: Int32
        let says: String
        let advises: String

        var testDescription: String { line }

        init(_ line: String, _ exitCode: Int32, _ says: String, _ advises: String) {
            self.line = line
            self.exitCode = exitCode
            self.says = says
            self.advises = advises
        }

        static let all = [
            UsualMistake("fetch", 2, "which URL?", "fetch --help"),
            UsualMistake("fetch --headr 'A: b' $U", 2, "did you mean --header?", "fetch --help"),
            UsualMistake("fetch -m soon $U", 2, "--max-time needs a number of seconds", "fetch --help"),
            UsualMistake("fetch -X GET -d a=b $U", 2, "a GET sends no body", "fetch --help"),
            UsualMistake("fetch htp://localhost/", 1, "scheme", "http, https"),
            UsualMistake("fetch 'http://local host/'", 3, "is not a URL", "https://example.com/"),
            UsualMistake("fetch '$U/[1-'", 3, "a [ without its ]", "--globoff"),
            UsualMistake("fetch http://$(printf 'a%.0s' $(seq 64)).invalid/", 6, "aaaa.invalid", "spelled right"),
            UsualMistake("fetch localhost:1", 7, "Connection refused", "does the server run"),
            UsualMistake("fetch https://127.0.0.1:$P/", 35, "TLS", "http://"),
            UsualMistake("fetch http://127.0.0.1:$Q/", 52, "closed", "https://"),
            UsualMistake("fetch $S", 60, "certificate", "--cacert"),
            UsualMistake("fetch --cacert ca https://localhost:$Q/", 60, "localhost", "--tls shows for which names"),
            UsualMistake("fetch --cacert nowhere $S", 77, "nowhere cannot be read", ""),
            UsualMistake("fetch -f $U/missing", 22, "status 404", "path spelled right"),
            UsualMistake("fetch -f $U/private", 22, "status 401", "-u NAME"),
            UsualMistake("fetch -f $U/busy", 22, "status 503", "--retry"),
            UsualMistake("fetch -m 0.3 $U/never", 28, "time", "--max-time"),
            UsualMistake("fetch $U/circle", 47, "redirects", "-c jar"),
            UsualMistake("fetch -d @nowhere $U", 26, "nowhere cannot be read", "--data-raw"),
            UsualMistake("fetch -T nowhere $U", 26, "nowhere cannot be read", "folder that you are in"),
            UsualMistake(
                "fetch -so no/such/folder $U 2>&1 >/dev/null; fetch -o no/such/folder $U", 23, "cannot be written",
                "--create-dirs"),
            UsualMistake("fetch -O $U", 23, "names no file", "-o FILE"),
            UsualMistake("fetch -x http://127.0.0.1:$P https://example.com/", 97, "proxy", "-U NAME"),
        ]
    }

    private static func site(_ request: ServerRequest) -> ServerResponse {
        switch request.path {
        case "/missing": .text("", status: 404)
        case "/private": ServerResponse.text("", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
        case "/busy": .text("", status: 503)
        case "/circle": ServerResponse.status(302).adding("Location", "/circle")
        case "/never": .script([.delay(.seconds(60))])
        default: request.method == "CONNECT" ? .text("", status: 403) : .text("good")
        }
    }

    @Test("One line says what is wrong, and one what to do", arguments: UsualMistake.all)
    func said(mistake: UsualMistake) async throws {
        let plain = try LoopbackServer.start(router: Self.site)
        let root = try CertificateFactory.root()
        var options = LoopbackServer.Options()
        options.tls = ServerTLS(identity: try root.issue(.server(hosts: ["127.0.0.1"])).identity)
        let secure = try LoopbackServer.start(options, router: Self.site)
        let place = try Workplace()
        try place.write(root.certificate.pem, to: "ca")
        let run = try await place.shell(
            "U=\(plain.url("")); S=\(secure.url("")); P=\(plain.port); Q=\(secure.port)\n\(mistake.line)")
        let lines = run.complaints.split(separator: "\n").map { String($0) }
        #expect(run.exitCode == mistake.exitCode, "\(run.exitCode) \(run.complaints)")
        #expect(
            lines.count == (mistake.advises.isEmpty ? 1 : 2) && lines.allSatisfy { $0.hasPrefix("fetch: ") }, "\(lines)"
        )
        #expect(
            lines.first?.contains(mistake.says) == true
                && (mistake.advises.isEmpty || lines.last?.contains(mistake.advises) == true), "\(lines)")
        await plain.stop()
        await secure.stop()
    }

    @Test("There are at least twenty mistakes")
    func count() { #expect(UsualMistake.all.count >= 20) }
}
