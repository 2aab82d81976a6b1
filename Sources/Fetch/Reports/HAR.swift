// HTTP Archive 1.2 (the format of browsers' network panels), as far as a command without pages has something to say:
// log, creator and entries with all their required members. Knows no metrics; HARFile makes it of them.

import Foundation
import URLLoading

/// An archive.
package struct HAR: Codable, Sendable {
    package var log: Log

    package struct Log: Codable, Sendable {
        package var version = "1.2"
        package var creator = Creator()
        package var entries: [Entry]
    }

    package struct Creator: Codable, Sendable {
        package var name = "fetch"
        package var version = URLSession.libraryVersion
    }

    package struct Entry: Codable, Sendable {
        /// ISO 8601 with milliseconds and zone.
        package var startedDateTime: String
        /// In milliseconds: the sum of the timings.
        package var time: Double
        package var request: Request
        package var response: Response
        package var cache = Cache()
        package var timings: Timings
        package var serverIPAddress: String?
        /// The server's port, as the format has no better place for it.
        package var connection: String?
    }

    package struct Request: Codable, Sendable {
        package var method: String
        package var url: String
        package var httpVersion: String
        package var cookies: [Cookie] = []
        package var headers: [Pair]
        package var queryString: [Pair]
        package var postData: PostData?
        package var headersSize: Int64
        package var bodySize: Int64
    }

    package struct Response: Codable, Sendable {
        /// 0 where none came.
        package var status: Int
        package var statusText: String
        package var httpVersion: String
        package var cookies: [Cookie] = []
        package var headers: [Pair]
        package var content: Content
        package var redirectURL: String
        package var headersSize: Int64
        package var bodySize: Int64
    }

    package struct Cookie: Codable, Sendable {
        package var name: String
        package var value: String
    }

    package struct Pair: Codable, Sendable, Equatable {
        package var name: String
        package var value: String
    }

    package struct PostData: Codable, Sendable {
        package var mimeType: String
        package var params: [Pair] = []
        package var text: String
    }

    package struct Content: Codable, Sendable {
        package var size: Int64
        package var compression: Int64?
        package var mimeType: String
    }

    package struct Cache: Codable, Sendable {}

    /// In milliseconds; −1 for what did not happen. `connect` holds `ssl` too.
    package struct Timings: Codable, Sendable, Equatable {
        package var blocked: Double
        package var dns: Double
        package var connect: Double
        package var ssl: Double
        package var send: Double
        package var wait: Double
        package var receive: Double

        /// Out of the steps of an exchange, whose whole length in seconds is known.
        package init(_ phases: [Phase], total: Double) {
            func time(_ name: String) -> Double? { phases.first { $0.name == name }.map { $0.duration * 1000 } }
            dns = time("look-up") ?? -1
            let security = time("TLS")
            ssl = security ?? -1
            connect = time("connect").map { $0 + (security ?? 0) } ?? -1
            send = time("request") ?? 0
            wait = time("wait") ?? 0
            receive = time("transfer") ?? 0
            blocked = 0
            blocked = max(0, total * 1000 - sum)
        }

        /// All but `ssl`, which is a part of `connect`.
        package var sum: Double { [blocked, dns, connect, send, wait, receive].filter { $0 > 0 }.reduce(0, +) }
    }

    /// The archive as a file has it.
    package func data() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}
