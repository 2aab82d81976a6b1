// What each failure of the engine means for the code that goes on after it: one row for every case, and for each value
// of a case that makes a difference.

import Testing
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingWire

@Suite("What errors mean")
struct EngineErrorKindsTests {
    /// What is true of an error, in the order of the type's properties.
    private struct Row {
        let error: EngineError
        let kinds: [String]

        init(_ error: EngineError, _ kinds: String) {
            self.error = error
            self.kinds = kinds.split(separator: " ").map(String.init)
        }

        var found: [String] {
            let found = [
                ("way", error.isOfTheWay), ("loss", error.isLoss), ("connection", error.isLossOfConnection),
                ("exchange", error.isOfTheExchange), ("interruption", error.isInterruption),
                ("ends", error.endsWaiting),
                ("part", error.leavesPart),
            ]
            return found.filter(\.1).map(\.0)
        }
    }

    private static let system = SystemError(errno: 104, call: "read")

    private static func silence(_ phase: EngineError.Phase) -> EngineError {
        .idleTimeout(host: "a.test", phase: phase, after: .seconds(1))
    }

    private static func lookup(_ reason: ResolverFailure.Reason = .temporary) -> ResolverFailure {
        ResolverFailure(reason: reason, code: 0, host: "a.test", message: "")
    }

    private static func proxy(_ reason: ProxyFailure.Reason) throws -> EngineError {
        .proxy(ProxyFailure(try testProxy(), reason))
    }

    private func rows() throws -> [Row] {
        let silences: [Row] = [
            .init(Self.silence(.lookingUpName), "way exchange part"),
            .init(Self.silence(.lookingUpProxy), "way exchange part"),
            .init(Self.silence(.connecting), "way exchange part"),
            .init(Self.silence(.shakingHandsWithProxy), "way exchange part"),
            .init(Self.silence(.tunnelling), "way exchange part"),
            .init(Self.silence(.waitingForConnection), "exchange part"),
            .init(Self.silence(.waitingForConnectivity), "exchange part"),
            .init(Self.silence(.shakingHands), "exchange part"),
            .init(Self.silence(.sendingRequest), "exchange part"),
            .init(Self.silence(.waitingForBody), "exchange part"),
            .init(Self.silence(.waitingForResponse), "exchange part"),
            .init(Self.silence(.receivingBody), "exchange part"),
            .init(Self.silence(.waitingForProgram), "exchange part"),
            .init(Self.silence(.conversing), "exchange part"),
        ]
        let proxies: [Row] = [
            .init(try Self.proxy(.lookup(Self.lookup())), "way part"),
            .init(try Self.proxy(.unreachable([])), "way part"),
            .init(try Self.proxy(.tls(.notTLS)), "way part"),
            .init(try Self.proxy(.tlsBroken(.notTLS)), "exchange part"),
            .init(try Self.proxy(.garbage(.notHTTP)), "way part"),
            .init(try Self.proxy(.closed(nil)), "way part"),
            .init(try Self.proxy(.socks(.malformed)), "way part"),
            .init(try Self.proxy(.socks(.reply(5))), "part"),
            .init(try Self.proxy(.refused(ResponseHead(status: 403))), "part"),
            .init(try Self.proxy(.authentication(ResponseHead(status: 407))), "part"),
            .init(try Self.proxy(.unsendable(.unsendableTarget)), "part"),
        ]
        let answers: [Row] = [
            .init(
                .connectionLost(Self.system, phase: .receivingBody, received: 1, expected: nil),
                "loss connection exchange interruption part"),
            .init(.wire(.closedInHead), "loss connection exchange interruption part"),
            .init(.wire(.notHTTP), "exchange"),
            .init(.wire(.unknownTransferCoding), "exchange"),
            .init(.wire(.corruptContent), "exchange"),
            .init(.wire(.unsendableMethod), "exchange"),
            .init(.http2(.reset(.cancel)), "loss exchange interruption part"),
            .init(.http2(.connection(.connection(.notHTTP2))), "loss connection exchange interruption part"),
            .init(.http2(.malformed(.stream(1, .malformed), nil)), "exchange"),
        ]
        let others: [Row] = [
            .init(.cancelled, "ends part"),
            .init(.resourceTimeout(host: "a.test", phase: .connecting, after: .seconds(1)), "ends part"),
            .init(.connectionTimeout(host: "a.test", phase: .connecting, after: .seconds(1)), "way part"),
            .init(.connectionTimeout(host: "a.test", phase: .shakingHandsWithProxy, after: .seconds(1)), "way part"),
            .init(.connectionTimeout(host: "a.test", phase: .tunnelling, after: .seconds(1)), "way part"),
            .init(.connectionTimeout(host: "a.test", phase: .shakingHands, after: .seconds(1)), "part"),
            .init(.nameLookup(Self.lookup()), "way interruption part"),
            .init(.connect(host: "a.test", []), "way interruption part"),
            .init(.tls(.notTLS, host: "a.test"), "exchange part"),
            .init(.localResource(Self.system), "part"),
            .init(.body(.endedEarly(given: 1, announced: 2)), ""),
            .init(.invalidRequest(.unsendableTarget), ""),
            .init(.undetachable(.shared), ""),
            .init(.ftp(.missing), ""),
        ]
        return silences + proxies + answers + others
    }

    @Test("Each error says whether another way helps, what was lost, whether waiting ends, and whether a part is left")
    func kinds() throws {
        let rows = try rows()
        for row in rows { #expect(row.found == row.kinds, "\(row.error)") }
        #expect(Set(rows.map { Self.number($0.error) }) == Set(0...15), "each has a row")
    }

    @Test("The obstacle on the way to a host is told in one form for the server and for a proxy")
    func obstacles() throws {
        func words(_ error: EngineError) -> String? {
            switch error.obstacle {
            case .lookup(let failure)?: "\(failure.reason)"
            case .connect(let failures)?: "\(failures.count)"
            case nil: nil
            }
        }
        let address = try #require(SocketAddress(literal: "10.0.0.1", port: 1))
        let failure = EngineError.ConnectFailure(address: address, error: Self.system)
        #expect(words(.nameLookup(Self.lookup(.noSuchHost))) == "noSuchHost")
        #expect(words(.connect(host: "a.test", [failure, failure])) == "2")
        #expect(words(try Self.proxy(.lookup(Self.lookup(.failed)))) == "failed")
        #expect(words(try Self.proxy(.unreachable([failure]))) == "1")
        for row in try rows() where !row.error.isOfTheWay { #expect(words(row.error) == nil, "\(row.error)") }
        for phase in [EngineError.Phase.lookingUpName, .connecting] { #expect(words(Self.silence(phase)) == nil) }
        for reason in [ProxyFailure.Reason.tls(.notTLS), .garbage(.notHTTP), .closed(nil), .socks(.malformed)] {
            #expect(words(try Self.proxy(reason)) == nil)
        }
    }

    /// Which case it is: a new one does not compile here, and needs a row.
    private static func number(_ error: EngineError) -> Int {
        switch error {
        case .cancelled: 0
        case .idleTimeout: 1
        case .resourceTimeout: 2
        case .connectionTimeout: 15
        case .nameLookup: 3
        case .connect: 4
        case .proxy: 5
        case .tls: 6
        case .connectionLost: 7
        case .wire: 8
        case .http2: 9
        case .body: 10
        case .invalidRequest: 11
        case .undetachable: 12
        case .ftp: 13
        case .localResource: 14
        }
    }
}
