// Pins, and client certificates for servers that ask for one.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust

@Suite("fetch: trust")
struct TrustRunTests {
    @Test("--pinnedpubkey: the right key, one of several, and 90 for another")
    func pins() async throws {
        let root = try CertificateFactory.root()
        let issued = try root.issue(.server(hosts: ["127.0.0.1"]))
        let server = try LoopbackServer.start(.init(tls: .init(identity: issued.identity))) { _ in .text("in") }
        let anchor = try ScratchFile(root.certificate.pem)
        let pin = "sha256//" + Data(issued.certificate.spkiSHA256).base64EncodedString()
        let wrong = "sha256//" + Data(repeating: 7, count: 32).base64EncodedString()
        func run(_ pins: String) async throws -> FetchRun {
            try await FetchRun.run("--cacert", anchor.path, "--pinnedpubkey", pins, server.url("/"))
        }
        #expect(try await run(pin).output == "in")
        #expect(try await run("\(wrong);\(pin)").output == "in")
        let refused = try await run(wrong)
        #expect(refused.exitCode == 90 && refused.output.isEmpty, "\(refused.complaints)")
        #expect(server.stats.requests == 2)
        await server.stop()
    }

    @Test(
        "B16.2: several URLs of one https host share a connection, shown certificates or not", arguments: [true, false])
    func shared(isVerbose: Bool) async throws {
        let root = try CertificateFactory.root()
        let issued = try root.issue(.server(hosts: ["127.0.0.1"]))
        let server = try LoopbackServer.start(.init(tls: .init(identity: issued.identity))) { _ in .text("in\n") }
        let anchor = try ScratchFile(root.certificate.pem)
        let options = ["--cacert", anchor.path, "-w", "%{num_connects}\\n"] + (isVerbose ? ["-v"] : [])
        let run = try await FetchRun.run(options + [1, 2, 3].map { server.url("/\($0)") })
        #expect(run.output == "in\n1\nin\n0\nin\n0\n", "\(run.complaints)")
        #expect(server.stats.connectionsAccepted == 1)
        let shown = run.complaints.components(separatedBy: "shows certificate 1").count - 1
        #expect(shown == (isVerbose ? 1 : 0), "\(run.complaints)")
        await server.stop()
    }

    @Test("An older TLS is advised where the versions do not meet, and not for every alert", arguments: [70, 112])
    func adviceUnderAlerts(_ alert: UInt8) async throws {
        var options = LoopbackServer.Options()
        options.greeting = { _ in [.send([21, 3, 3, 0, 2, 2, alert]), .waitForClose] }
        let server = try LoopbackServer.start(options) { _ in .status(200) }
        let run = try await FetchRun.run("https://127.0.0.1:\(server.port)/")
        #expect(run.exitCode == 35, "\(run.complaints)")
        #expect(run.complaints.contains("--tlsv1.0") == (alert == 70), "\(run.complaints)")
        await server.stop()
    }

    @Test("https is not advised to a URL of https that is not answered")
    func adviceWithoutAnswer() async throws {
        let root = try CertificateFactory.root()
        let issued = try root.issue(.server(hosts: ["127.0.0.1"]))
        let server = try LoopbackServer.start(.init(tls: .init(identity: issued.identity))) { _ in .script([.close]) }
        let anchor = try ScratchFile(root.certificate.pem)
        let run = try await FetchRun.run("--cacert", anchor.path, server.url("/"))
        #expect(run.exitCode == 52, "\(run.complaints)")
        #expect(!run.complaints.contains("begins with https"), "\(run.complaints)")
        await server.stop()
    }

    @Test("B7.102: what --insecure, --cacert or other pins have let into the cache serves no later run")
    func cachedTrust() async throws {
        let root = try CertificateFactory.root()
        let issued = try root.issue(.server(hosts: ["127.0.0.1"]))
        let server = try LoopbackServer.start(.init(tls: .init(identity: issued.identity))) { _ in
            .text("in").adding("Cache-Control", "max-age=3600")
        }
        let anchor = try ScratchFile(root.certificate.pem)
        let pin = "sha256//" + Data(issued.certificate.spkiSHA256).base64EncodedString()
        let wrong = "sha256//" + Data(repeating: 7, count: 32).base64EncodedString()
        let url = server.url("/")
        func run(_ options: [String], system: String? = nil, in folder: Workplace) async throws -> FetchRun {
            try await FetchRun.run(
                ["--cache"] + options + [url],
                changing: ["XDG_CACHE_HOME": folder.path, "SSL_CERT_FILE": system, "SSL_CERT_DIR": nil])
        }
        let ways: [(options: [String], system: String?)] = [
            (["--insecure"], nil), (["--cacert", anchor.path], nil),
            (["--cacert", anchor.path, "--pinnedpubkey", pin], nil), ([], anchor.path),
            (["--pinnedpubkey", pin], anchor.path),
        ]
        for (options, system) in ways {
            let folder = try Workplace()
            let first = try await run(options, system: system, in: folder)
            #expect(first.output == "in" && first.complaints.hasSuffix("* cache: miss\n"), "\(first.complaints)")
            let refused = try await run([], in: folder)
            #expect(refused.exitCode == 60 && refused.output.isEmpty, "\(options): \(refused.output)")
            let pinned = try await run(["--cacert", anchor.path, "--pinnedpubkey", wrong], in: folder)
            #expect(pinned.exitCode == 90 && pinned.output.isEmpty, "\(options): \(pinned.output)")
            // Another run of the same command: a hit only where the system's roots have vouched for the server.
            let again = try await run(options, system: system, in: folder)
            let use = system == nil ? "miss" : "hit"
            #expect(again.output == "in" && again.complaints.hasSuffix("* cache: \(use)\n"), "\(again.complaints)")
        }
        await server.stop()
    }

    @Test("B7.106: what came to a client certificate serves no later run, with another certificate or with none")
    func cachedIdentities() async throws {
        let root = try CertificateFactory.root()
        var tls = TLSServerOptions(identity: try root.issue(.server(hosts: ["127.0.0.1"])).identity)
        tls.clientAuthentication = .optional
        tls.clientAuthorities = [root.certificate]
        tls.clientEvaluator = AnchorsEvaluator(anchors: [root.certificate])
        let server = try LoopbackServer.start(.init(tls: tls)) { _ in
            .text("in").adding("Cache-Control", "private, max-age=3600")
        }
        let anchor = try ScratchFile(root.certificate.pem)
        let files = try ["one", "two"].map { name in
            let identity = try root.issue(.client(name)).identity
            return try ScratchFile(identity.certificatePEM + identity.keyPEM)
        }
        let folder = try Workplace()
        let runs: [(options: [String], use: String)] = [
            (["--cert", files[0].path], "miss"), (["--cert", files[1].path], "miss"), ([], "miss"), ([], "hit"),
            (["--cert", files[0].path], "miss"),
        ]
        for (options, use) in runs {
            let run = try await FetchRun.run(
                ["--cache"] + options + [server.url("/")],
                changing: ["XDG_CACHE_HOME": folder.path, "SSL_CERT_FILE": anchor.path, "SSL_CERT_DIR": nil])
            #expect(run.output == "in" && run.complaints.hasSuffix("* cache: \(use)\n"), "\(run.complaints)")
        }
        await server.stop()
    }

    @Test(
        "B3.6: a program with more rights than its user trusts nobody whom that user's environment names",
        .enabled(
            if: geteuid() == 0 && !Sanitizer.isActive
                && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv"),
            "only root can run a program for another user, by setpriv"))
    func moreRights() async throws {
        let root = try CertificateFactory.root()
        let issued = try root.issue(.server(hosts: ["127.0.0.1"]))
        let server = try LoopbackServer.start(.init(tls: .init(identity: issued.identity))) { _ in .text("in") }
        let anchor = try ScratchFile(root.certificate.pem)
        let users: [(user: String, exitCode: Int32)] = [("0", 0), ("65534", 60)]
        for (user, exitCode) in users {
            let run = try await FetchRun.run(
                ["--ruid", user, ChildRun.path(of: "fetch"), server.url("/")],
                changing: ["SSL_CERT_FILE": anchor.path, "SSL_CERT_DIR": nil], program: "/usr/bin/setpriv")
            #expect(run.exitCode == exitCode, "user \(user): \(run.complaints)")
        }
        await server.stop()
    }

    @Test("--cert, --key and --pass: PEM in one file or two, PKCS #12; 58 for what cannot be used, 35 without one")
    func identities() async throws {
        let root = try CertificateFactory.root()
        let client = try root.issue(.client("somebody"))
        var tls = TLSServerOptions(identity: try root.issue(.server(hosts: ["127.0.0.1"])).identity)
        tls.clientAuthentication = .required
        tls.clientAuthorities = [root.certificate]
        tls.clientEvaluator = AnchorsEvaluator(anchors: [root.certificate])
        let server = try LoopbackServer.start(.init(tls: tls)) { _ in .text("known") }
        let place = try Workplace()
        try place.write(root.certificate.pem, to: "root.pem")
        try place.write(client.identity.certificatePEM, to: "me.pem")
        try place.write(client.identity.keyPEM, to: "me.key")
        try place.write(client.identity.certificatePEM + client.identity.keyPEM, to: "both.pem")
        try Data(client.pkcs12(passphrase: "Tr0ub4dor")).write(to: URL(fileURLWithPath: place.path + "/me.p12"))
        func run(_ options: String) async throws -> FetchRun {
            try await place.shell("fetch --cacert root.pem \(options) \(server.url("/"))")
        }
        #expect(try await run("--cert both.pem").output == "known")
        #expect(try await run("-E me.pem --key me.key").output == "known")
        #expect(try await run("--cert me.p12 --pass Tr0ub4dor").output == "known")
        for options in [
            "--cert me.p12 --pass wr0ng", "--cert me.pem", "--cert nothing", "--cert me.pem --key root.pem",
        ] {
            let refused = try await run(options)
            #expect(
                refused.exitCode == 58 && !refused.complaints.contains("wr0ng"), "\(options): \(refused.complaints)")
        }
        #expect(try await run("").exitCode == 35)
        await server.stop()
    }
}
