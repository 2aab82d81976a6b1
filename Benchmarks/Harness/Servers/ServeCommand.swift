// `Benchmarks serve DIRECTORY`: LoopbackServer in a process of its own, for what nginx cannot do (slow answers, uploads
// that are read to their end) and for everything where nginx is not installed. Ends when its input does.

import Foundation
import URLLoadingLoopbackServer
import URLLoadingTrust
import URLLoadingWire

/// The server's process.
enum ServeCommand {
    /// Where the servers listen, as the process says it in its only line.
    struct Ports {
        let plain: Int
        let secure: Int
        let secureWithoutTickets: Int
        /// Over TLS, where HTTP/2 is spoken with clients that offer it.
        let http2: Int

        var line: String { "\(plain) \(secure) \(secureWithoutTickets) \(http2)" }

        init(plain: Int, secure: Int, secureWithoutTickets: Int, http2: Int) {
            self.plain = plain
            self.secure = secure
            self.secureWithoutTickets = secureWithoutTickets
            self.http2 = http2
        }

        init?(_ line: String) {
            let numbers = line.split(separator: " ").compactMap { Int($0) }
            guard numbers.count == 4 else { return nil }
            self.init(plain: numbers[0], secure: numbers[1], secureWithoutTickets: numbers[2], http2: numbers[3])
        }
    }

    static func run(directory: String) throws {
        let place = URL(fileURLWithPath: directory)
        func text(_ name: String) throws -> String {
            try String(contentsOf: place.appendingPathComponent(name), encoding: .utf8)
        }
        let identity = try Identity(
            certificatePEM: text(Material.certificateFile), keyPEM: text(Material.keyFile))
        let site = try Site(directory: place)
        let plain = try start(nil, site)
        let secure = try start(ServerTLS(identity: identity), site)
        var withoutTickets = ServerTLS(identity: identity)
        withoutTickets.tickets = 0
        let secureWithoutTickets = try start(withoutTickets, site)
        let http2 = try start(ServerTLS(identity: identity), site, .offered)

        let ports = Ports(
            plain: plain.port, secure: secure.port, secureWithoutTickets: secureWithoutTickets.port, http2: http2.port)
        FileHandle.standardOutput.write(Data((ports.line + "\n").utf8))
        _ = FileHandle.standardInput.readDataToEndOfFile()
        withExtendedLifetime((plain, secure, secureWithoutTickets, http2)) {}
    }

    private static func start(
        _ tls: ServerTLS?, _ site: Site, _ http2: ServerHTTP2 = .off
    ) throws -> LoopbackServer {
        // Every address of 127.0.0.0/8, each an origin.
        var options = LoopbackServer.Options(host: "0.0.0.0", tls: tls)
        options.backlog = 4_096
        options.keptBodyBytes = 0
        options.http2 = http2
        // More than any scenario has in flight.
        options.http2.settings.maximumConcurrentStreams = 10_000
        return try LoopbackServer.start(options, router: site.answer)
    }
}

/// The answers of the scenarios.
private struct Site: Sendable {
    private let small: ServerResponse
    private let fields: ServerResponse
    private let closing: ServerResponse
    private let json: ServerResponse
    private let largeBody: Int64
    private let gathering = Gathering()

    init(directory: URL) throws {
        let plain = ServerResponse.text(Material.smallBody)
        small = Site.encoded(plain)
        var document = ServerResponse.bytes(Array(Material.document.utf8), type: "application/json")
        for (name, value) in Material.extraFields {
            document = document.adding(name, value.replacingOccurrences(of: "\\", with: ""))
        }
        fields = Site.encoded(document)
        closing = plain.closing()
        let compressed = try Data(contentsOf: directory.appendingPathComponent(Material.jsonFile))
        json = ServerResponse.bytes(Array(compressed), type: "application/json").adding("Content-Encoding", "gzip")
        let large = directory.appendingPathComponent(Material.largeFile).path
        let attributes = try FileManager.default.attributesOfItem(atPath: large)
        largeBody = (attributes[.size] as? NSNumber)?.int64Value ?? 0
    }

    func answer(_ request: ServerRequest) -> ServerResponse {
        switch request.path {
        case "/small", "/upload": small
        case "/fields": fields
        case "/close": closing
        case "/gate": gathering.answer(whenThereAre: number(in: request))
        case "/gate-close": gathering.answer(whenThereAre: number(in: request)).closing()
        case "/generated": .generated(length: Int64(number(in: request)))
        case "/headed": Site.fields(number(in: request)) { "X-Field-\($0)" }
        case "/repeated": Site.fields(number(in: request)) { _ in "X-Field" }
        case "/json": json
        case "/large": .generated(length: largeBody)
        case "/websocket": .webSocket()
        case "/slow": .slow([.init(Material.smallBody, after: .seconds(number(in: request)))])
        default: .status(404)
        }
    }

    /// The number that is all of a URL's query.
    private func number(in request: ServerRequest) -> Int { request.query.flatMap { Int($0) } ?? 0 }

    /// A small answer with so many fields; one is there in any case.
    private static func fields(_ count: Int, named name: (Int) -> String) -> ServerResponse {
        var response = ServerResponse(body: .bytes(Array(Material.smallBody.utf8)))
        for number in 0..<max(0, count - 1) { response.fields.append(name(number), "a value of some length") }
        return response
    }

    /// Encoded once, so that it costs the server next to nothing.
    private static func encoded(_ response: ServerResponse) -> ServerResponse {
        response.message().map(ServerResponse.encoded) ?? response
    }
}
