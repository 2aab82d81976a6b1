// The system's GSSAPI library where it is installed and where it is not, and hashes of bodies.

import Testing
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingTestSupport

@Suite("Negotiate and hashes of this machine")
struct NegotiateTests {
    @Test("B2.95: where the library is not installed the failure says so and what to install")
    func missingLibrary() throws {
        let library = Result { () throws(NegotiateFailure) in try NegotiateLibrary("liburlloading-has-none.so.1") }
        let rounds = NegotiateRounds(host: "server.test", library: library)
        #expect {
            try rounds.token(for: nil)
        } throws: { error in
            guard case NegotiateFailure.notInstalled(let reason) = error else { return false }
            return reason.contains("liburlloading-has-none.so.1") && "\(error)".contains("libgssapi-krb5-2")
        }
    }

    /// A library that is installed wherever this package runs, and has none of the functions.
    private static let wrongLibrary = Result { () throws(NegotiateFailure) in try NegotiateLibrary("libz.so.1") }

    @Test("B2.95: a library without the functions gives no token")
    func wrongLibrary() {
        #expect(throws: NegotiateFailure.self) {
            try NegotiateRounds(host: "server.test", library: Self.wrongLibrary).token(for: nil)
        }
    }

    private static var isInstalled: Bool {
        if case .success = NegotiateLibrary.system { true } else { false }
    }

    @Test("B2.95: without a ticket the library gives no token, and says why", .enabled(if: isInstalled))
    func noTicket() {
        let rounds = NegotiateRounds(host: "urlloading.invalid")
        #expect {
            try rounds.token(for: nil)
        } throws: { error in
            guard case NegotiateFailure.refused(let reason) = error else { return false }
            return !reason.isEmpty && !reason.hasPrefix("status")
        }
    }

    @Test(
        "B2.95: tokens that are not base64, or that continue rounds that never began, are refused",
        .enabled(if: isInstalled))
    func hostileTokens() {
        for challenge in ["", "=", "?"] {
            #expect(throws: NegotiateFailure.malformedChallenge) {
                try NegotiateRounds(host: "urlloading.invalid").token(for: challenge)
            }
        }
        #expect {
            try NegotiateRounds(host: "urlloading.invalid").token(for: "YWJj")
        } throws: { error in
            guard case NegotiateFailure.refused(let reason) = error else { return false }
            return reason.contains("never began")
        }
    }

    @Test("B2.95: the library is asked on a helper thread, and the answer comes from there")
    func helperThread() async {
        let rounds = NegotiateRounds(host: "server.test", library: Self.wrongLibrary)
        let result = await withHandover { (handover: Handover<Result<String, NegotiateFailure>, Never>) in
            rounds.token(for: nil, while: { true }) { handover.resume(returning: $0) }
        }
        #expect(throws: NegotiateFailure.self) { try result.get() }
    }

    @Test("B2.82: a body's hash does not depend on the pieces it is read in", arguments: HashAlgorithm.allCases)
    func bodyHash(algorithm: HashAlgorithm) throws {
        let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let hash = try #require(BodyHash(algorithm))
        for start in stride(from: 0, to: body.count, by: 4093) {
            body[start..<min(start + 4093, body.count)].withUnsafeBytes { hash.update($0) }
        }
        let finished = try #require(hash.finished())
        #expect(finished == HashFunctions.system.hash(algorithm, body))
        #expect(finished.count == (algorithm == .md5 ? 16 : 32))
    }

    @Test("R7616 §3.4: each nonce of ours is another")
    func freshness() {
        let drawn = (0..<100).map { _ in AuthenticationFreshness.drawn(secondsSince1970: 1) }
        #expect(Set(drawn.map(\.bytes)).count == 100)
        #expect(drawn.allSatisfy { $0.bytes.count == 24 && $0.fileTime == 116_444_736_010_000_000 })
    }
}
