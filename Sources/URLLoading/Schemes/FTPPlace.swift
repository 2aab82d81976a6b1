// What an ftp or ftps URL says, and the way there: a transfer of our own, or HTTP where a proxy speaks that (B13.32).
//
// Must not know: FTP's commands, tasks, who carries anything.

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

    /// How a place is reached.
    enum Way {
        case transfer(Route)
        /// By requests to these proxies, to be tried in this order.
        case proxies([Route])
    }

    /// Fails with −1000 where the URL has no usable host, port, user or path (B14.4, B14.23).
    init(_ url: URL) throws(URLError) {
        self.url = url
        isProtected = url.scheme?.lowercased() == "ftps"
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

    /// Who we are as far as the URL says (B14.21).
    var credential: PasswordCredential? {
        guard let user, !user.isEmpty else { return nil }
        if let password { return PasswordCredential(user: user, password: password) }
        // RFC 1635: these want no password, and get what stands for one.
        return user == "anonymous" || user == "ftp" ? PasswordCredential(user: user, password: "anonymous@") : nil
    }

    /// Where somebody would be asked who we are.
    var space: URLProtectionSpace {
        URLProtectionSpace(
            host: server.host, port: server.port, protocol: NSURLProtectionSpaceFTP, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodDefault)
    }

    // MARK: The way

    /// The way that the session's settings name. Of several the first counts, and those like it.
    func way(_ request: URLRequest, _ settings: SessionSettings) throws(URLError) -> Way {
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
        case .direct: return .transfer(.direct())
        case .unusable(let fault): throw LoadFailure.unusableProxy(url, fault)
        case .automatic: throw LoadFailure.noWay(url, "The session's proxyResolver is not asked about FTP.")
        case .routes(let routes):
            guard let first = routes.first else { return .transfer(.direct()) }
            guard let proxy = first.proxy, proxy.kind.isHTTP else { return .transfer(first) }
            if isProtected {
                throw LoadFailure.noWay(
                    url, "The proxy \(proxy) speaks HTTP, and cannot fetch URLs of the scheme ftps.")
            }
            return .proxies(routes.compactMap(Self.forwarding))
        }
    }

    /// What is asked to fetch an FTP URL is sent that URL, whatever is tunnelled otherwise.
    private static func forwarding(_ route: Route) -> Route? {
        guard var proxy = route.proxy, proxy.kind.isHTTP else { return nil }
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

extension RequestBuilder {
    /// The request to a proxy for an FTP URL (B13.32).
    ///
    /// B14.25: what is to be stored is put there; methods and other bodies mean no more than to FTP itself.
    func message(
        for request: URLRequest, after first: URLRequest?, storing content: HopContent?, at place: FTPPlace,
        by routes: [Route]
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
            origin: place.server, ways: .routes(routes),
            head: RequestHead(method: method, target: place.target, fields: fields), carriesCookies: false,
            body: content.body,
            framing: RequestFieldRules.framing(method: method, body: content.length, applicationLength: nil))
    }
}
