// How a configuration is written down for a background session, and made anew of that. What is code, or a secret key,
// cannot be: such a session's transfers have to be owned by the program itself, which still has its configuration.
//
// Must not know: journals, processes.

import Foundation
import URLLoadingPolicy

extension TransferSettings {
    /// What of a configuration can be written down, and the names of those properties that cannot: where there is one,
    /// no other process may carry out the session's transfers. The identifier has to be set.
    static func of(_ values: ConfigurationValues) -> (settings: TransferSettings, uncarried: [String]) {
        var settings = TransferSettings(identifier: values.identifier ?? "")
        var uncarried: [String] = []
        settings.additionalFields = values.additionalHeaders.fields.map { TransferField($0.name, $0.value) }
        settings.requestTimeout = milliseconds(values.timeoutIntervalForRequest) ?? 60_000
        settings.resourceTimeout = milliseconds(values.timeoutIntervalForResource)
        settings.cachePolicy = UInt32(truncatingIfNeeded: values.requestCachePolicy.rawValue)
        settings.tlsMinimum = values.tlsMinimum.rawValue
        settings.tlsMaximum = values.tlsMaximum.rawValue
        settings.connectionsPerHost = UInt32(clamping: values.httpMaximumConnectionsPerHost)
        settings.http2 =
            switch values.http2 {
            case .off: 0
            case .offered: 1
            case .priorKnowledge: 2
            }
        settings.requiresDNSSEC = values.requiresDNSSECValidation
        settings.resumableUploads =
            switch values.resumableUploads {
            case .never: 0
            case .ofFiles: 1
            case .always: 2
            }
        settings.hostOverrides = values.hostOverrides.sorted { $0.key < $1.key }.map { TransferField($0.key, $0.value) }
        settings.unixSocketPath = values.unixSocketPath?.absoluteSocketPath
        settings.localAddress = values.localAddress
        settings.networkInterface = values.networkInterface
        settings.tlsKeyLogFile = values.tlsKeyLogFile?.path(percentEncoded: false)
        settings.proxies = values.connectionProxyDictionary.values.map { entries in
            entries.sorted { $0.key < $1.key }.map { Proxy(key: $0.key, value: Proxy.Value($0.value)) }
        }
        if values.usesProxyEnvironment { settings.proxyEnvironment = environment }
        if let trust = values.serverTrustEvaluation.carried, trust.isReadable {
            settings.trust = trust
        } else {
            uncarried.append("serverTrustEvaluation")
        }
        if values.clientIdentities != .none { uncarried.append("clientIdentities") }
        if values.appTransportSecurity != nil { uncarried.append("appTransportSecurity") }
        if values.proxyResolver != nil { uncarried.append("proxyResolver") }
        if !values.proxyConfigurations.isEmpty { uncarried.append("proxyConfigurations") }
        if values.mock != nil { uncarried.append("mock") }
        // The ticket is this program's user's: a helper may live on where it has run out, or was renewed elsewhere.
        if !values.negotiateHosts.isEmpty { uncarried.append("negotiateHosts") }
        if !values.basicCredentialsSentAhead.isEmpty { uncarried.append("basicCredentialsSentAhead") }
        if values.hostResolver != nil { uncarried.append("hostResolver") }
        if values.maximumConnectionLifetime != nil { uncarried.append("maximumConnectionLifetime") }
        if values.timeoutIntervalForConnection != nil { uncarried.append("timeoutIntervalForConnection") }
        if values.connectionProbeInterval != nil { uncarried.append("connectionProbeInterval") }
        if values.maximumDecodedBytes != nil { uncarried.append("maximumDecodedBytes") }
        if values.maximumDecodedRatio != nil { uncarried.append("maximumDecodedRatio") }
        return (settings, uncarried)
    }

    /// The configuration of the session that an owner loads with: without what belongs to the program (cache, cookies,
    /// credentials), and always waiting for connectivity (B10.21, B10.27).
    var configuration: ConfigurationValues {
        var values = ConfigurationValues()
        values.additionalHeaders = AdditionalHeaders(
            dictionary: Dictionary(additionalFields.map { ($0.name, $0.value) }) { $1 })
        values.timeoutIntervalForRequest = TimeInterval(requestTimeout) / 1000
        values.requestCachePolicy = NSURLRequest.CachePolicy(rawValue: UInt(cachePolicy)) ?? .useProtocolCachePolicy
        values.tlsMinimum = tls_protocol_version_t(rawValue: tlsMinimum) ?? .TLSv12
        values.tlsMaximum = tls_protocol_version_t(rawValue: tlsMaximum) ?? .TLSv13
        values.httpMaximumConnectionsPerHost = Int(connectionsPerHost)
        values.http2 = http2 == 0 ? .off : http2 == 1 ? .offered : .priorKnowledge
        values.requiresDNSSECValidation = requiresDNSSEC
        values.resumableUploads = resumableUploads == 0 ? .never : resumableUploads == 1 ? .ofFiles : .always
        values.hostOverrides = Dictionary(hostOverrides.map { ($0.name, $0.value) }) { $1 }
        values.unixSocketPath = unixSocketPath
        values.localAddress = localAddress
        values.networkInterface = networkInterface
        values.tlsKeyLogFile = tlsKeyLogFile.map { URL(fileURLWithPath: $0) }
        values.proxyEnvironment = Dictionary(proxyEnvironment.map { ($0.name, $0.value) }) { $1 }
        values.connectionProxyDictionary = ProxyDictionary(
            dictionary: proxies.map { entries in
                Dictionary(entries.map { (AnyHashable($0.key), $0.value.any) }) { $1 }
            })
        values.serverTrustEvaluation = .choice(trust)
        return values.forTransfers
    }

    private static func milliseconds(_ seconds: TimeInterval) -> Int64? {
        seconds > 0 ? max(1, Duration(clampedSeconds: seconds).wholeMilliseconds64) : nil
    }

    /// The variables that name proxies, as the program has them: its helper may live in another environment.
    private static var environment: [TransferField] {
        ProxyRules.environmentVariables.compactMap { name in
            getenv(name).map { TransferField(name, String(cString: $0)) }
        }
    }
}

extension ConfigurationValues {
    /// A copy for the session of a transfer's owner, without what belongs to the program.
    var forTransfers: ConfigurationValues {
        var values = self
        values.identifier = nil
        values.urlCache = nil
        values.httpCookieStorage = nil
        values.httpShouldSetCookies = false
        values.urlCredentialStorage = nil
        values.waitsForConnectivity = true
        // The owner counts the time of a task itself, across processes and attempts.
        values.timeoutIntervalForResource = 0
        values.honorsEarliestBeginDate = false
        values.protocolClasses = []
        // It tries again by rules of its own, and the numbers of its tasks are not those that the program knows.
        values.retryPolicy = nil
        values.traceHooks = nil
        return values
    }
}

extension TransferSettings.Proxy.Value {
    init(_ value: ProxyDictionaryValue) {
        self =
            switch value {
            case .number(let number): .number(Int64(number))
            case .text(let text): .text(text)
            case .list(let texts): .list(texts)
            }
    }

    /// As it stands in a dictionary.
    var any: Any {
        switch self {
        case .number(let number): Int(clamping: number)
        case .text(let text): text
        case .list(let texts): texts
        }
    }
}
