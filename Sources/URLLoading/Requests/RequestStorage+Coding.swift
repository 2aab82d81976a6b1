// How a request is archived. The keys are ours; archives of other implementations are not read.

import Foundation

extension RequestValues {
    /// Reads what an archive has; what is missing or of another type keeps its default.
    init(coder: NSCoder) {
        self.init()
        url = coder.decodeObject(of: NSURL.self, forKey: Key.url).map { $0 as URL }
        mainDocumentURL = coder.decodeObject(of: NSURL.self, forKey: Key.mainDocumentURL).map { $0 as URL }
        cachePolicy = Self.enumeration(coder, Key.cachePolicy) ?? .useProtocolCachePolicy
        networkServiceType = Self.enumeration(coder, Key.networkServiceType) ?? .default
        attribution = Self.enumeration(coder, Key.attribution) ?? .developer
        if coder.containsValue(forKey: Key.timeout) { explicitTimeout = coder.decodeDouble(forKey: Key.timeout) }
        if let text = coder.decodeObject(of: NSString.self, forKey: Key.method) { setMethod(text as String) }
        if let body = coder.decodeObject(of: NSData.self, forKey: Key.body) { httpBody = body as Data }
        cookiePartitionIdentifier =
            coder.decodeObject(of: NSString.self, forKey: Key.cookiePartition).map { $0 as String }
        unixSocketPath = coder.decodeObject(of: NSString.self, forKey: Key.unixSocketPath).map { $0 as String }
        maximumDecodedBytes = Self.number(coder, Key.maximumDecodedBytes)
        maximumDecodedRatio = Self.number(coder, Key.maximumDecodedRatio)
        let names = Self.strings(coder, Key.fieldNames)
        for (name, value) in zip(names, Self.strings(coder, Key.fieldValues)) { fields.set(value, for: name) }
        for (key, path) in Self.flagKeys where coder.containsValue(forKey: key) {
            self[keyPath: path] = coder.decodeBool(forKey: key)
        }
    }

    /// Writes everything but a body stream.
    func encode(with coder: NSCoder) {
        coder.encode(url.map { $0 as NSURL }, forKey: Key.url)
        coder.encode(mainDocumentURL.map { $0 as NSURL }, forKey: Key.mainDocumentURL)
        coder.encode(Int(clamping: cachePolicy.rawValue), forKey: Key.cachePolicy)
        coder.encode(Int(clamping: networkServiceType.rawValue), forKey: Key.networkServiceType)
        coder.encode(Int(clamping: attribution.rawValue), forKey: Key.attribution)
        if let explicitTimeout { coder.encode(explicitTimeout, forKey: Key.timeout) }
        coder.encode(method as NSString, forKey: Key.method)
        coder.encode(httpBody.map { $0 as NSData }, forKey: Key.body)
        coder.encode(cookiePartitionIdentifier.map { $0 as NSString }, forKey: Key.cookiePartition)
        coder.encode(unixSocketPath.map { $0 as NSString }, forKey: Key.unixSocketPath)
        if let maximumDecodedBytes { coder.encode(maximumDecodedBytes, forKey: Key.maximumDecodedBytes) }
        if let maximumDecodedRatio { coder.encode(maximumDecodedRatio, forKey: Key.maximumDecodedRatio) }
        coder.encode(fields.fields.map { $0.name as NSString } as NSArray, forKey: Key.fieldNames)
        coder.encode(fields.fields.map { $0.value as NSString } as NSArray, forKey: Key.fieldValues)
        for (key, path) in Self.flagKeys { coder.encode(self[keyPath: path], forKey: key) }
    }

    private static func enumeration<E: RawRepresentable<UInt>>(_ coder: NSCoder, _ key: String) -> E? {
        guard coder.containsValue(forKey: key) else { return nil }
        return E(rawValue: UInt(clamping: coder.decodeInteger(forKey: key)))
    }

    private static func number(_ coder: NSCoder, _ key: String) -> Int64? {
        coder.containsValue(forKey: key) ? coder.decodeInt64(forKey: key) : nil
    }

    private static func strings(_ coder: NSCoder, _ key: String) -> [String] {
        let array = coder.decodeObject(of: [NSArray.self, NSString.self], forKey: key) as? NSArray
        return array?.compactMap { $0 as? String } ?? []
    }

    private enum Key {
        static let url = "url"
        static let mainDocumentURL = "mainDocumentURL"
        static let cachePolicy = "cachePolicy"
        static let networkServiceType = "networkServiceType"
        static let attribution = "attribution"
        static let timeout = "timeoutInterval"
        static let method = "httpMethod"
        static let body = "httpBody"
        static let cookiePartition = "cookiePartitionIdentifier"
        static let unixSocketPath = "unixSocketPath"
        static let maximumDecodedBytes = "maximumDecodedBytes"
        static let maximumDecodedRatio = "maximumDecodedRatio"
        static let fieldNames = "fieldNames"
        static let fieldValues = "fieldValues"
    }

    /// The keys of what is true or false.
    static var flagKeys: [(String, WritableKeyPath<RequestValues, Bool>)] {
        [
            ("allowsCellularAccess", \.allowsCellularAccess),
            ("allowsExpensiveNetworkAccess", \.allowsExpensiveNetworkAccess),
            ("allowsConstrainedNetworkAccess", \.allowsConstrainedNetworkAccess),
            ("allowsUltraConstrainedNetworkAccess", \.allowsUltraConstrainedNetworkAccess),
            ("assumesHTTP3Capable", \.assumesHTTP3Capable),
            ("requiresDNSSECValidation", \.requiresDNSSECValidation),
            ("allowsPersistentDNS", \.allowsPersistentDNS),
            ("httpShouldHandleCookies", \.httpShouldHandleCookies),
            ("httpShouldUsePipelining", \.httpShouldUsePipelining),
            ("acceptsTrailers", \.acceptsTrailers),
        ]
    }
}
