// What a request consists of, shared by `URLRequest`, `NSURLRequest` and `NSMutableURLRequest`.
//
// Must not know: sessions, tasks, the wire.

import Foundation

/// The values of one request behind a reference, so that copying a `URLRequest` costs one retain.
///
/// It is safe to share between threads because it is not changed while it is shared: `URLRequest` makes a copy
/// first unless it holds the only reference, and `NSMutableURLRequest`, which is not Sendable, does the same.
final class RequestStorage: @unchecked Sendable {
    // `@exclusivity(unchecked)`: for the same reason no access can meet a change; the check cost each request five
    // calls into the runtime.
    @exclusivity(unchecked) var values: RequestValues

    init(_ values: RequestValues) {
        self.values = values
    }
}

/// The values of one request.
struct RequestValues {
    var url: URL?
    var mainDocumentURL: URL?
    var cachePolicy: NSURLRequest.CachePolicy = .useProtocolCachePolicy
    /// `nil` while the application has not set one: then the configuration's value counts (B6.3).
    var explicitTimeout: TimeInterval?
    var networkServiceType: NSURLRequest.NetworkServiceType = .default
    var attribution: NSURLRequest.Attribution = .developer
    var method = "GET"
    var fields = RequestFieldTable()
    var body: Body = .none
    var allowsCellularAccess = true
    var allowsExpensiveNetworkAccess = true
    var allowsConstrainedNetworkAccess = true
    var allowsUltraConstrainedNetworkAccess = false
    var assumesHTTP3Capable = false
    var requiresDNSSECValidation = false
    var allowsPersistentDNS = false
    var acceptsTrailers = false
    var httpShouldHandleCookies = true
    var httpShouldUsePipelining = false
    var cookiePartitionIdentifier: String?
    var unixSocketPath: String?
    /// When it is tried again; it does not count when requests are compared.
    var retryPolicy: RetryRules?
    /// What is called at each step of its load; it does not count when requests are compared.
    var traceHooks: SharedHooks?
    var maximumDecodedBytes: Int64?
    var maximumDecodedRatio: Int64?
    /// What `URLProtocol` has attached; nothing of it is sent, and it does not count when requests are compared.
    var properties: RequestProperties?

    /// A request's content; setting one kind clears the other (B5.8).
    enum Body {
        case none
        case data(Data)
        case stream(LentObject<InputStream>)
    }

    /// The time-out as the application reads it.
    var timeoutInterval: TimeInterval { explicitTimeout ?? 60 }

    var httpBody: Data? {
        get {
            if case .data(let data) = body { data } else { nil }
        }
        set { body = newValue.map(Body.data) ?? .none }
    }

    var httpBodyStream: InputStream? {
        get {
            if case .stream(let stream) = body { stream.object } else { nil }
        }
        set { body = newValue.map { .stream(LentObject($0)) } ?? .none }
    }

    /// Sets the method; well-known ones are upper-cased, every other token stays as written (B5.2).
    mutating func setMethod(_ newValue: String?) {
        guard let newValue else {
            method = "GET"
            return
        }
        method = Self.normalisedMethods.first { FieldText.sameName($0, newValue) } ?? newValue
    }

    private static let normalisedMethods = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT"]
}

extension RequestValues: Hashable {
    static func == (left: RequestValues, right: RequestValues) -> Bool {
        left.url == right.url && left.mainDocumentURL == right.mainDocumentURL && left.method == right.method
            && left.fields == right.fields && left.body == right.body && left.cachePolicy == right.cachePolicy
            && left.timeoutInterval == right.timeoutInterval && left.networkServiceType == right.networkServiceType
            && left.attribution == right.attribution && left.flags == right.flags
            && left.cookiePartitionIdentifier == right.cookiePartitionIdentifier
            && left.unixSocketPath == right.unixSocketPath && left.maximumDecodedBytes == right.maximumDecodedBytes
            && left.maximumDecodedRatio == right.maximumDecodedRatio
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(url)
        hasher.combine(mainDocumentURL)
        hasher.combine(method)
        hasher.combine(fields)
        hasher.combine(body)
        hasher.combine(flags)
    }

    private var flags: [Bool] {
        [
            allowsCellularAccess, allowsExpensiveNetworkAccess, allowsConstrainedNetworkAccess,
            allowsUltraConstrainedNetworkAccess, assumesHTTP3Capable, requiresDNSSECValidation, allowsPersistentDNS,
            httpShouldHandleCookies, httpShouldUsePipelining, acceptsTrailers,
        ]
    }
}

extension RequestValues.Body: Hashable {
    /// Streams are the same only if they are the same object: comparing them would use them up.
    static func == (left: RequestValues.Body, right: RequestValues.Body) -> Bool {
        switch (left, right) {
        case (.none, .none): true
        case (.data(let left), .data(let right)): left == right
        case (.stream(let left), .stream(let right)): left.object === right.object
        case (.none, _), (.data, _), (.stream, _): false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .none: hasher.combine(0)
        case .data(let data): hasher.combine(data)
        case .stream(let stream): hasher.combine(stream.object.map { ObjectIdentifier($0) })
        }
    }
}
