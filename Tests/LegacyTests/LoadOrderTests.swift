// The order in which a load tells what its listener has to prepare.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@testable import URLLoadingLegacy

/// Has pieces of a body prepared only when the next response, or the end, waits behind them.
private final class SlowListener: LoadListener {
    /// A bar for each response, a dot for the end, and the body between them.
    let told = Guarded("")
    private let waiting = Guarded<[@Sendable () -> Void]>([])

    private func goOn() {
        let ready = waiting.change { waiting in
            defer { waiting = [] }
            return waiting
        }
        for then in ready { then() }
    }

    func prepareResponse(then: @escaping @Sendable () -> Void) {
        goOn()
        then()
    }

    func prepare(_ piece: Data, then: @escaping @Sendable () -> Void) { waiting.change { $0.append(then) } }

    func prepareEnd(then: @escaping @Sendable ((any Error)?) -> Void) {
        goOn()
        then(nil)
    }

    func receives(_ response: URLResponse) { told.change { $0 += "|" } }

    func receives(piece: Data) { told.change { $0 += String(decoding: piece, as: UTF8.self) } }

    func ends(_ error: (any Error)?, file: URL?) { told.change { $0 += "." } }

    // What this load does not tell, or is not asked.

    var principal: AnyObject? { nil }

    func begins() {}

    func willSend(_ request: URLRequest, after response: URLResponse?) -> URLRequest? { request }

    func usesCredentialStorage() -> Bool { false }

    func isAsked(_ challenge: URLAuthenticationChallenge) {}

    func isAskedNoMore(_ challenge: URLAuthenticationChallenge) {}

    var preparesForBody: Bool { true }

    func hasSent(_ count: Int64, total: Int64, expected: Int64) {}

    func bodyStream(for request: URLRequest) -> InputStream? { nil }

    func stores(_ response: CachedURLResponse) -> CachedURLResponse? { nil }

    func hasWritten(_ count: Int64, total: Int64, expected: Int64) {}
}

@Suite("Order of a load", .timeLimit(.minutes(3)))
struct LoadOrderTests {
    @Test("B1.62: a part of a multipart/x-mixed-replace body is told when all of the part before is prepared")
    func parts() async throws {
        let body = "--frame\r\n\r\none\r\n--frame\r\n\r\ntwo\r\n--frame--\r\n"
        let answer = ServerResponse.bytes(Array(body.utf8), type: "multipart/x-mixed-replace; boundary=frame")
        try await withServer(.alone(), router: { _ in answer }) { server async throws in
            let listener = SlowListener()
            let load = LegacyLoad(try server.request())
            await onRunLoop {
                load.deliveries.add(.current, .default)
                load.begin(listener)
            }
            #expect(listener.told.value == "||one|two.")
        }
    }
}
