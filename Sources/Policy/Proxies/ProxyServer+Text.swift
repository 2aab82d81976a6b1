// Reads a proxy out of text: URLs as the environment has them (B13.12), and the answers of proxy auto-configuration.
//
// Beside what the statement lists: `socks://`, which desktops write, is socks5h; `…+unix://` with the path of a socket,
// and a SOCKS URL of localhost with a path, are proxies on UNIX-domain sockets.
//
// Must not know: where the text came from but for its name in faults.

extension ProxyServer {
    /// Reads a URL; without a scheme it is `http`. Faults name `source` and nothing of the text.
    package static func read(_ text: String, source: String) throws(ProxyFault) -> ProxyServer {
        let parts = try ProxyURL(text, source: source)
        func made(_ proxy: ProxyServer?) throws(ProxyFault) -> ProxyServer {
            guard let proxy else { throw ProxyFault(source: source, .badHost) }
            return proxy
        }
        if let path = parts.socketPath {
            return try made(ProxyServer(kind: parts.kind, path: path, credentials: parts.credentials))
        }
        return try made(
            ProxyServer(kind: parts.kind, host: parts.host, port: parts.port, credentials: parts.credentials))
    }
}

/// The parts of a proxy's URL.
private struct ProxyURL {
    let kind: ProxyServer.Kind
    let host: String
    let port: Int?
    /// Where it listens in place of host and port.
    let socketPath: String?
    let credentials: ProxyCredentials?

    init(_ text: String, source: String) throws(ProxyFault) {
        var bytes = Array(text.utf8)[...].drop(while: ASCII.isBlank)
        while let last = bytes.last, ASCII.isBlank(last) { bytes = bytes.dropLast() }
        guard !bytes.isEmpty, bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw ProxyFault(source: source, .notAURL)
        }
        let (scheme, isSocket, rest) = Self.scheme(of: bytes)
        guard let kind = Self.kind(scheme) else { throw ProxyFault(source: source, .unknownScheme) }
        self.kind = kind

        let end = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
        let path = rest[end...].prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        var place = rest[..<end]
        var credentials: ProxyCredentials?
        if let at = place.lastIndex(of: UInt8(ascii: "@")) {
            credentials = Self.credentials(place[..<at])
            place = place[(at + 1)...]
        }
        self.credentials = credentials

        if isSocket {
            let socket = Self.decoded(place.isEmpty ? path : place)
            guard socket.hasPrefix("/"), socket.utf8.count > 1, !socket.utf8.contains(0) else {
                throw ProxyFault(source: source, .badHost)
            }
            host = "localhost"
            port = nil
            socketPath = socket
            return
        }
        let (hostText, portText) = Self.hostAndPort(place)
        guard !hostText.isEmpty else { throw ProxyFault(source: source, .badHost) }
        host = String(decoding: hostText, as: UTF8.self)
        if portText.isEmpty {
            port = nil
        } else {
            guard let number = ASCII.decimal(portText), (1...65535).contains(number) else {
                throw ProxyFault(source: source, .badPort)
            }
            port = Int(number)
        }
        // curl's form: socks5h://localhost/run/socks.
        let isLocalSOCKS = !kind.isHTTP && path.count > 1 && ASCII.isEqual(host, "localhost")
        socketPath = isLocalSOCKS ? Self.decoded(path) : nil
    }

    /// The scheme's name in lower case, whether it says that the proxy is on a UNIX-domain socket, and what follows.
    private static func scheme(
        of text: ArraySlice<UInt8>
    ) -> (name: String, isSocket: Bool, rest: ArraySlice<UInt8>) {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")),
            text[colon...].starts(with: "://".utf8) || text.starts(with: "unix:/".utf8)
        else { return ("http", false, text) }
        let name = String(decoding: text[..<colon].map { ASCII.lowercase($0) }, as: UTF8.self)
        var rest = text[(colon + 1)...]
        if rest.starts(with: "//".utf8) { rest = rest.dropFirst(2) }
        if name == "unix" { return ("http", true, rest) }
        guard name.hasSuffix("+unix") else { return (name, false, rest) }
        return (String(name.dropLast("+unix".count)), true, rest)
    }

    private static func kind(_ scheme: String) -> ProxyServer.Kind? {
        scheme == "socks" ? .socks5h : ProxyServer.Kind(rawValue: scheme)
    }

    private static func credentials(_ text: ArraySlice<UInt8>) -> ProxyCredentials? {
        guard !text.isEmpty else { return nil }
        let colon = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        return ProxyCredentials(user: decoded(text[..<colon]), password: decoded(text[colon...].dropFirst()))
    }

    /// Without percent-encoding; a text in which a percent sign stands for itself is taken as it is.
    private static func decoded(_ text: ArraySlice<UInt8>) -> String {
        String(decoding: NormalHost.percentDecoded(text) ?? Array(text), as: UTF8.self)
    }

    private static func hostAndPort(_ place: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ArraySlice<UInt8>) {
        let bracket = place.lastIndex(of: UInt8(ascii: "]")) ?? place.startIndex
        guard let colon = place[bracket...].lastIndex(of: UInt8(ascii: ":")) else { return (place, []) }
        return (place[..<colon], place[(colon + 1)...])
    }
}

// MARK: Answers of proxy auto-configuration

extension Route {
    /// Reads what a configuration script returns, as `PROXY a.example:8080; SOCKS b.example; DIRECT`, into the ways to
    /// be tried in order (B13.31). `SOCKS` is version 5, as on Apple's platforms.
    package static func list(answer: String, source: String) throws(ProxyFault) -> [Route] {
        var routes: [Route] = []
        for entry in answer.split(separator: ";") {
            let words = entry.split { $0.isWhitespace }
            guard let kind = words.first?.uppercased() else { continue }
            if kind == "DIRECT", words.count == 1 {
                routes.append(.direct())
            } else {
                guard words.count == 2, let scheme = schemesOfAnswers[kind] else {
                    throw ProxyFault(source: source, .badAnswer)
                }
                routes.append(.proxied(try ProxyServer.read("\(scheme)://\(words[1])", source: source)))
            }
        }
        guard !routes.isEmpty else { throw ProxyFault(source: source, .badAnswer) }
        return routes
    }

    private static let schemesOfAnswers = [
        "PROXY": "http", "HTTP": "http", "HTTPS": "https", "SOCKS": "socks5h", "SOCKS4": "socks4a", "SOCKS5": "socks5h",
    ]
}
