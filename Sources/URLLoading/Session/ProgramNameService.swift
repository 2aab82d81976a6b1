// The program's own resolver as a name service: what it is asked, and what its answers come to. Whatever it says,
// hostile or absurd, becomes addresses that can be used or a failure.
//
// Must not know: which connection waits, and how answers are kept.

import Foundation
import URLLoadingSystem

/// Asks a configuration's `hostResolver`.
struct ProgramNameService: NameService {
    private let resolver: URLSessionConfiguration.HostResolver

    init(_ resolver: @escaping URLSessionConfiguration.HostResolver) {
        self.resolver = resolver
    }

    /// It is asked about names of the network only.
    var knowsLocalNames: Bool { false }

    func ask(_ host: String, answer: @escaping @Sendable (NameAnswer) -> Void) -> (any NameQuestion)? {
        AskedProgram(
            task: Task { [resolver] in
                do {
                    answer(Self.answer(try await resolver(host), for: host))
                } catch {
                    answer(NameAnswer(.failure(Self.failure(error, host))))
                }
            })
    }

    /// What the program has said, as far as it can be used.
    static func answer(_ said: URLSessionConfiguration.HostAddresses, for host: String) -> NameAnswer {
        var (found, seen): ([SocketAddress], Set<SocketAddress>) = ([], [])
        for text in said.addresses where found.count < mostAddresses {
            guard let address = SocketAddress(literal: text, port: 0) else {
                return refusal(
                    host, "The session's hostResolver has answered with what is no address: \(text.prefix(100))")
            }
            if seen.insert(address).inserted { found.append(address) }
        }
        if found.isEmpty { return refusal(host, "The session's hostResolver knows no address") }
        return NameAnswer(.success(found), lifetime: lifetime(said.timeToLive))
    }

    /// For how long an answer is kept: no time at all where the number says nothing.
    private static func lifetime(_ seconds: TimeInterval) -> Duration {
        seconds > 0 ? .seconds(min(seconds, longestLifetime)) : .zero
    }

    private static func refusal(_ host: String, _ message: String) -> NameAnswer {
        NameAnswer(.failure(ResolverFailure(reason: .noSuchHost, code: 0, host: host, message: message)))
    }

    private static func failure(_ error: any Error, _ host: String) -> ResolverFailure {
        let isOfService = (error as? URLError)?.code == .dnsLookupFailed
        return ResolverFailure(
            reason: isOfService ? .failed : .noSuchHost, code: 0, host: host,
            message: words(of: error), cause: error)
    }

    /// What the error says in its own words, if it has some. A URLError without any would only
    /// print its domain and number.
    private static func words(of error: any Error) -> String {
        if let text = (error as NSError).userInfo[NSLocalizedDescriptionKey] as? String { return text }
        if error is URLError { return "The session's hostResolver did not find it" }
        return "The session's hostResolver has failed: \(error)"
    }

    /// Picked by feel: a quarter of a second between two attempts makes sixteen seconds of them.
    private static let mostAddresses = 64
    /// A day: a longer answer counts as a day.
    private static let longestLifetime: TimeInterval = 86_400
}

/// The program is being asked.
private struct AskedProgram: NameQuestion {
    let task: Task<Void, Never>

    func withdraw() -> Bool { true }

    func cancel() { task.cancel() }
}
