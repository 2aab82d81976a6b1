// Where a credential is asked for: a server or proxy, a realm on it and a method.
//
// Must not know: credentials, storages, how a challenge came about.

import Foundation
import URLLoadingWire

/// A server or proxy, or a realm on it, that asks for authentication.
open class URLProtectionSpace: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Safe to share: every stored property is immutable, and `SecTrust` guards itself.
    private let place: Place
    private let givenNames: [Data]?
    private let givenTrust: SecTrust?

    /// Makes a space without host.
    public override init() {
        place = Place(host: "", port: 0, kind: nil, method: NSURLAuthenticationMethodDefault)
        givenNames = nil
        givenTrust = nil
        super.init()
    }

    /// Makes a space on a server; a port of 0 stays 0 (B2.24), an unknown method becomes the default one (B2.25).
    public init(host: String, port: Int, protocol: String?, realm: String?, authenticationMethod: String?) {
        place = Place(
            host: host, port: port, isProxy: false, kind: `protocol`, realm: realm,
            method: Place.known(authenticationMethod))
        givenNames = nil
        givenTrust = nil
        super.init()
    }

    /// Makes a space on a proxy, whose `type` is one of the `NSURLProtectionSpace…Proxy` constants.
    public init(proxyHost host: String, port: Int, type: String?, realm: String?, authenticationMethod: String?) {
        place = Place(
            host: host, port: port, isProxy: true, kind: type, realm: realm,
            method: Place.known(authenticationMethod))
        givenNames = nil
        givenTrust = nil
        super.init()
    }

    /// The space of a server that has shown its certificates (B2.19), or of a proxy (B13.21).
    init(serverTrust: SecTrust, host: String, port: Int, isProxy: Bool = false) {
        place = Place(host: host, port: port, isProxy: isProxy, method: NSURLAuthenticationMethodServerTrust)
        givenNames = nil
        givenTrust = serverTrust
        super.init()
    }

    /// The space of a server or proxy that wants our certificate, issued by one of `distinguishedNames` (B2.19).
    init(distinguishedNames: [Data], host: String, port: Int, isProxy: Bool = false) {
        place = Place(host: host, port: port, isProxy: isProxy, method: NSURLAuthenticationMethodClientCertificate)
        givenNames = distinguishedNames
        givenTrust = nil
        super.init()
    }

    /// Reads a space from a keyed archive; nil where it is none.
    public required init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding, let host = coder.decodeObject(of: NSString.self, forKey: Key.host)
        else { return nil }
        func text(_ key: String) -> String? { coder.decodeObject(of: NSString.self, forKey: key).map { $0 as String } }
        place = Place(
            host: host as String, port: coder.decodeInteger(forKey: Key.port),
            isProxy: coder.decodeBool(forKey: Key.isProxy), kind: text(Key.kind), realm: text(Key.realm),
            method: Place.known(text(Key.method)))
        let names = coder.decodeObject(of: [NSArray.self, NSData.self], forKey: Key.names) as? NSArray
        givenNames = names?.compactMap { $0 as? Data }
        givenTrust = nil
        super.init()
    }

    /// Writes the space to a keyed archive. A server trust belongs to its connection and is not written.
    open func encode(with coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return }
        coder.encode(place.host as NSString, forKey: Key.host)
        coder.encode(place.port, forKey: Key.port)
        coder.encode(place.isProxy, forKey: Key.isProxy)
        coder.encode(place.kind.map { $0 as NSString }, forKey: Key.kind)
        coder.encode(place.realm.map { $0 as NSString }, forKey: Key.realm)
        coder.encode(place.method as NSString, forKey: Key.method)
        coder.encode(givenNames.map { $0.map { $0 as NSData } as NSArray }, forKey: Key.names)
    }

    /// Spaces can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Gives the space itself: it cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func copy() -> Any { self }

    /// The part of the server that shares credentials; nil where a method has no realms.
    open var realm: String? { place.realm }

    /// The server's name, or the proxy's for a proxy (B2.23).
    open var host: String { place.host }

    /// The server's or proxy's port.
    open var port: Int { place.port }

    /// The kind of proxy; nil for a server (B2.23).
    open var proxyType: String? { place.isProxy ? place.kind : nil }

    /// The server's protocol; nil for a proxy (B2.23).
    open var `protocol`: String? { place.isProxy ? nil : place.kind }

    /// How to authenticate: one of the `NSURLAuthenticationMethod…` constants.
    open var authenticationMethod: String { place.method }

    /// Whether what is sent as proof cannot be read on its way (B2.26).
    open var receivesCredentialSecurely: Bool {
        if `protocol` == NSURLProtectionSpaceHTTPS || `protocol` == Self.protectedFTP { return true }
        return Place.methodsThatHideTheSecret.contains(authenticationMethod)
    }

    /// Whether a proxy asks.
    @discardableResult
    open override func isProxy() -> Bool { place.isProxy }

    /// The issuers whose certificates the server accepts, DER encoded; nil but for client certificates (B2.27).
    open var distinguishedNames: [Data]? { givenNames }

    /// What the server has shown; nil but for server trust (B2.27).
    open var serverTrust: SecTrust? { givenTrust }

    /// Whether both have the same host, port, protocol or proxy type, realm and method (B2.22, B2.28). What one
    /// connection brought, its trust and its issuers, is not compared.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? URLProtectionSpace else { return false }
        return place == other.place
    }

    open override var hash: Int { place.hashValue }

    open override var description: String {
        """
        \(ErrorText.name(of: self)): Host:\(host), Server:\(`protocol` ?? "(null)"), Auth-Scheme:\(authenticationMethod), \
        Realm:\(realm ?? "(null)"), Port:\(port), Proxy:\(isProxy() ? "YES" : "NO"), \
        Proxy-Type:\(proxyType ?? "(null)")
        """
    }

    /// The protocol of a space on an FTP server within TLS, for which Apple has no name.
    static let protectedFTP = "ftps"

    private enum Key {
        static let host = "host"
        static let port = "port"
        static let isProxy = "isProxy"
        static let kind = "kind"
        static let realm = "realm"
        static let method = "authenticationMethod"
        static let names = "distinguishedNames"
    }
}

/// What makes a space this space and no other (B2.22).
private struct Place: Hashable {
    var host: String
    var port: Int
    var isProxy = false
    /// The protocol of a server, the type of a proxy.
    var kind: String? = NSURLProtectionSpaceHTTPS
    var realm: String?
    var method: String

    // A realm is compared byte for byte, as servers do.
    static func == (left: Place, right: Place) -> Bool {
        left.host == right.host && left.port == right.port && left.isProxy == right.isProxy && left.kind == right.kind
            && left.method == right.method && left.realm.hasSameBytes(as: right.realm)
    }

    static let methodsThatHideTheSecret: Set = [
        NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
        NSURLAuthenticationMethodClientCertificate, NSURLAuthenticationMethodServerTrust,
    ]
    private static let methods: Set = methodsThatHideTheSecret.union([
        NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTMLForm,
    ])

    /// The method itself where it is one, else the default one (B2.25).
    static func known(_ method: String?) -> String {
        guard let method, methods.contains(method) else { return NSURLAuthenticationMethodDefault }
        return method
    }
}
