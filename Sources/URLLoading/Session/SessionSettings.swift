// What a session makes of its configuration, once: engine settings, default fields, time-outs.
//
// Must not know: tasks and delegates.

import Foundation
import HTTPWire
import LoadingEngine
import LoadingPolicy
import TLS
import Trust

/// A session's settings in the form in which requests and the engine use them.
struct SessionSettings: Sendable {
    private let requestTimeout: Duration
    private let resourceTimeout: Duration?
    let cachePolicy: NSURLRequest.CachePolicy
    let requiresDNSSECValidation: Bool
    let waitsForConnectivity: Bool
    let honorsEarliestBeginDate: Bool
    let hostOverrides: Set<String>
    let additionalFields: Fields
    let defaultFields: DefaultFields
    let engine: EngineConfiguration

    init(_ values: ConfigurationValues) {
        requestTimeout = Duration(
            clampedSeconds: values.timeoutIntervalForRequest > 0 ? values.timeoutIntervalForRequest : 60)
        resourceTimeout =
            values.timeoutIntervalForResource > 0 ? Duration(clampedSeconds: values.timeoutIntervalForResource) : nil
        cachePolicy = values.requestCachePolicy
        requiresDNSSECValidation = values.requiresDNSSECValidation
        waitsForConnectivity = values.waitsForConnectivity
        honorsEarliestBeginDate = values.honorsEarliestBeginDate
        var additional = Fields()
        for field in values.additionalHeaders.fields { additional.append(field.name, field.value) }
        additionalFields = additional
        defaultFields = DefaultFields(
            acceptLanguage: AcceptLanguage.ofEnvironment, userAgent: UserAgent.ofProcess)

        var overrides: [String: String] = [:]
        for (name, address) in values.hostOverrides { overrides[name.lowercased()] = address }
        hostOverrides = Set(overrides.keys)

        var engine = EngineConfiguration()
        engine.maximumConnectionsPerHost = values.httpMaximumConnectionsPerHost
        engine.minimumTLSVersion = TLSVersion(values.tlsMinimum)
        engine.maximumTLSVersion = TLSVersion(values.tlsMaximum)
        engine.keyLogFile = values.tlsKeyLogFile.map { $0.path(percentEncoded: false) }
        engine.trust = .evaluator(values.serverTrustEvaluation.evaluator)
        engine.hostOverrides = overrides
        self.engine = engine
    }

    /// The longest wait without a byte moving: the request's if it has one (B6.3, B6.4, B6.7).
    func idleTimeout(_ request: URLRequest) -> Duration {
        if let explicit = request.values.explicitTimeout, explicit > 0 { return Duration(clampedSeconds: explicit) }
        return requestTimeout
    }

    /// When a transfer that begins now must have ended, as `LoopClock` counts time; `nil` for no limit (B6.5, B6.7).
    func resourceDeadline(from start: Duration) -> Duration? {
        resourceTimeout.map { start + $0 }
    }
}

extension Duration {
    /// A duration of at most a hundred years, whatever the number: infinity and NaN are numbers too.
    init(clampedSeconds seconds: TimeInterval) {
        let limit: TimeInterval = 3_153_600_000
        self = .seconds(seconds.isNaN ? limit : min(max(seconds, 0), limit))
    }
}

extension TLSVersion {
    /// The version for the engine; a DTLS version counts as the TLS version it was made from (RFC 6347 §1).
    init(_ version: tls_protocol_version_t) {
        self =
            switch version {
            case .TLSv10: .v10
            case .TLSv11, .DTLSv10: .v11
            case .TLSv12, .DTLSv12: .v12
            case .TLSv13: .v13
            }
    }
}

extension URLSessionConfiguration.ServerTrustEvaluation {
    /// The evaluator that carries the choice out.
    var evaluator: any TrustEvaluator {
        switch self {
        case .system: SystemRootsEvaluator()
        case .anchors(let pem): Self.anchors(pem, alsoSystem: false)
        case .anchorsAndSystem(let pem): Self.anchors(pem, alsoSystem: true)
        case .dangerouslyAcceptAnyCertificate: DangerouslyAcceptAnyEvaluator()
        }
    }

    private static func anchors(_ pem: String, alsoSystem: Bool) -> any TrustEvaluator {
        do throws(CertificateError) {
            // Whoever brings an authority along runs it, or knows who does: the formal mistakes of its tools are forgiven,
            // those of the public web's authorities are not (docs/trust.md).
            let own = AnchorsEvaluator(anchors: try Certificate.parse(pem: pem)).adjusting { $0.profile = .lenient }
            return alsoSystem ? AnyOfEvaluator([own, SystemRootsEvaluator()]) : own
        } catch {
            return UnreadableAnchorsEvaluator(reason: error.description)
        }
    }
}

/// Trusts nobody, because the anchors that the program gave could not be read.
private struct UnreadableAnchorsEvaluator: TrustEvaluator {
    let reason: String

    func evaluate(_ chain: CertificateChain, policy: TrustPolicy) -> TrustVerdict {
        .refused(
            TrustFailure(
                .other("the session's own anchors could not be read: \(reason)"),
                certificate: chain.leaf.displayName))
    }
}
