// What an ftp or ftps URL says, and the way there: a transfer of our own, or HTTP where a proxy speaks that (B13.32).
//
// Must not know: FTP's commands, tasks, which object carries anything.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingWire

/// The parts of an ftp URL.
struct FTPPlace: Sendable {
    let url: URL
    /// Host and port; 21 for both schemes, since `ftps` is FTP that is protected by AUTH TLS (B14.26).
    let server: Origin
    let path: FTPPath
    let isProtected: Bool
    /// The URL's user, and password if it has one.
    let user: String?
    let password: String?
    /// Behind the authority, as it stands in the URL.
    private let rest: String

    /// How a place is reached first, and the ways for when that does not lead there.
    enum Way {
        /// By a transfer, which tries these ways in this order.
        case transfer([Route], others: ArraySlice<Route>)
        /// By a request to a proxy.
        case proxy(Route, others: ArraySlice<Route>)
    }

    /// Fails with −1002 where the URL is of another scheme: its user, password and path are for no FTP server. Fails
    /// with −1000 where it has no usable host, port, user or path (B14.4, B14.23).
    init(_ url: URL) throws(URLError) {
        self.url = url
        switch url.scheme?.lowercased() {
        case "ftp": isProtected = false
        case "ftps": isProtected = true
        default: throw LoadFailure.unsupportedURL(url, "The URL of an FTP server begins with ftp or ftps.")
        }
        guard let host = url.host(percentEncoded: false), !host.isEmpty,
            let server = Origin(scheme: .http, host: host, port: url.port ?? Self.defaultPort)
        else { throw LoadFailure.badURL(url, "The URL has no usable host and port.") }
        self.server = server
        rest = Self.rest(of: url)
        user = url.user(percentEncoded: false)
        password = url.password(percentEncoded: false)
        guard (user ?? "").utf8.allSatisfy(FTPCommand.isSendable),
            (password ?? "").utf8.allSatisfy(FTPCommand.isSendable)
        else { throw LoadFailure.badURL(url, "The URL's user name or password cannot be sent to an FTP server.") }
        do throws(FTPFailure) {
            path = try FTPPath(percentEncoded: rest)
        } catch {
            throw LoadFailure.badURL(url, error.description)
        }
    }

    /// The URL's text behind its authority, without a fragment. A question mark means nothing here (RFC 1738 §3.2).
    private static func rest(of url: URL) -> String {
        let text = url.absoluteString.utf8
        var place = text.firstIndex(of: UInt8(ascii: ":")) ?? text.startIndex
        // Behind the colon and the two slashes that a URL with a host has.
        place = text.index(place, offsetBy: 3, limitedBy: text.endIndex) ?? text.endIndex
        let authority = text[place...]
        let start = authority.firstIndex(where: URLText.endsAuthority) ?? text.endIndex
        let end = text[start...].firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        return String(decoding: text[start..<end], as: UTF8.self)
    }

    /// The type of what is there (B14.24, B14.28).
    var mimeType: String {
        guard let name = path.name else { return "text/ftp-dir-listing" }
        return FileTypes.mimeType(ofPath: String(decoding: name, as: UTF8.self))
    }

    /// The user name and password that the URL has (B14.21).
    var credential: PasswordCredential? {
        guard let user, !user.isEmpty else { return nil }
        if let password { return PasswordCredential(user: user, password: password) }
        // RFC 1635: these want no password, and get what stands for one.
        return user == "anonymous" || user == "ftp" ? PasswordCredential(user: user, password: "anonymous@") : nil
    }

    /// The space of a question for a name and a password. What was stored for `ftps` must not be sent in clear, and so
    /// each scheme has a space of its own.
    var space: URLProtectionSpace {
        URLProtectionSpace(
            host: server.host, port: server.port,
            protocol: isProtected ? URLProtectionSpace.protectedFTP : NSURLProtectionSpaceFTP, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodDefault)
    }

    // MARK: The way

    /// The ways that the session's settings name, to be tried in this order.
    func routes(_ request: URLRequest, _ settings: SessionSettings) throws(URLError) -> [Route] {
        if let text = settings.unusableLocalAddress { throw LoadFailure.unusableLocalAddress(url, text) }
        if settings.proxies.usesSocket || request.values.unixSocketPath != nil {
            throw LoadFailure.noWay(
                url, "FTP needs connections of its own for data, which a UNIX-domain socket has not.")
        }
        let validates = request.values.requiresDNSSECValidation || settings.requiresDNSSECValidation
        if validates, !server.isIPLiteral, !settings.overrides(server.host, port: server.port) {
            throw LoadFailure.cannotValidateDNSSEC(url, host: server.host)
        }
        switch settings.proxies.ways(toFTP: server) {
        case .direct: return [.direct()]
        case .unusable(let fault): throw LoadFailure.unusableProxy(url, fault)
        case .automatic: throw LoadFailure.noWay(url, "The session's proxyResolver is not asked about FTP.")
        case .routes(let routes): return routes
        }
    }

    /// How the first of these ways is gone, with those behind it that are like it.
    func way(by routes: ArraySlice<Route>) throws(URLError) -> Way {
        guard isProtected else {
            if let first = routes.first, let proxy = first.httpProxy {
                return .proxy(Self.forwarding(by: proxy), others: routes.dropFirst())
            }
            let own = routes.prefix { $0.httpProxy == nil }
            return .transfer(Array(own), others: routes.dropFirst(own.count))
        }
        // What speaks HTTP leads nowhere, and so what comes after it is tried.
        let own = routes.filter { $0.httpProxy == nil }
        if own.isEmpty, let proxy = routes.first?.httpProxy {
            throw LoadFailure.noWay(
                url, "The proxy \(proxy) speaks HTTP, and cannot fetch URLs of the scheme ftps.")
        }
        return .transfer(own, others: [])
    }

    /// What is asked to fetch an FTP URL is sent that URL, whatever is tunnelled otherwise.
    private static func forwarding(by proxy: ProxyServer) -> Route {
        var proxy = proxy
        proxy.tunnelsAlways = false
        return .proxied(proxy)
    }

    private static let defaultPort = 21

    // MARK: By HTTP

    /// The place in absolute form, without the user (B13.32).
    var target: String { "ftp://\(hostField)\(rest.utf8.first == UInt8(ascii: "/") ? "" : "/")\(rest)" }

    /// Host and port, the port unless it is FTP's.
    var hostField: String {
        let host = server.authority.dropLast(":\(server.port)".utf8.count)
        return server.port == Self.defaultPort ? String(host) : "\(host):\(server.port)"
    }

    /// What a proxy that speaks HTTP is told of the URL's user.
    var authorization: String? {
        guard let user, let password else { return nil }
        return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}

extension Route {
    /// The proxy, if it speaks HTTP.
    fileprivate var httpProxy: ProxyServer? { proxy.flatMap { $0.kind.isHTTP ? $0 : nil } }
}

extension RequestBuilder {
    /// The request to a proxy for an FTP URL (B13.32).
    ///
    /// B14.25: what is to be stored is put there; methods and other bodies mean no more than to FTP itself.
    func message(
        for request: URLRequest, after first: URLRequest?, storing content: HopContent?, at place: FTPPlace,
        by route: Route
    ) -> Message {
        let method = content == nil ? "GET" : "PUT"
        let content = content ?? HopContent.none
        var fields = fields(for: request, after: first, method: method, to: place.server, content)
        fields.removeAll(.host)
        fields.append(.host, place.hostField)
        if let authorization = place.authorization, !fields.contains(.authorization) {
            fields.append(.authorization, authorization)
        }
        return Message(
            origin: place.server, ways: .routes([route]),
            head: RequestHead(method: method, target: place.target, fields: fields), carriesCookies: false,
            body: content.body,
            framing: RequestFieldRules.framing(method: method, body: content.length, applicationLength: nil))
    }
}
