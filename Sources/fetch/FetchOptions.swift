// What the command line asks for. Pure: text in, a value or a complaint out.

import Foundation
import URLLoading

/// The parsed command line.
struct FetchOptions {
    var url: URL
    var showsHead = false
    var isVerbose = false
    var failsOnErrorStatus = false
    var anchorFile: String?
    var acceptsAnyCertificate = false
    var hostOverrides: [String: String] = [:]
    var proxy: Proxy?
    /// Hosts that are reached without a proxy, in the form of `no_proxy`.
    var proxyExceptions: String?
    var socketPath: String?
    var localAddress: String?
    var interface: String?
    var maximumTime: Double?
    var usesCache = false
    var fields: [(name: String, value: String)] = []
}

extension FetchOptions {
    /// What `--proxy` says.
    enum Proxy {
        /// An empty text: no proxy, whatever the environment says.
        case direct
        case server(ProxyConfiguration)
    }
}

/// What the command line comes to.
enum CommandLineReading {
    case fetch(FetchOptions)
    case help
    case complaint(String)
}

extension FetchOptions {
    /// Reads the arguments after the command's name.
    static func read(_ arguments: [String]) -> CommandLineReading {
        var reader = ArgumentReader(arguments)
        var options = FetchOptions(url: URL(fileURLWithPath: "/"))
        var target: String?
        var proxyUser: (name: String, password: String)?
        while let argument = reader.next() {
            switch argument {
            case "-h", "--help":
                return .help
            case "-i", "--include":
                options.showsHead = true
            case "-v", "--verbose":
                options.isVerbose = true
            case "-f", "--fail":
                options.failsOnErrorStatus = true
            case "--insecure":
                options.acceptsAnyCertificate = true
            case "--cache":
                options.usesCache = true
            case "--cacert":
                guard let file = reader.next() else { return .complaint("--cacert needs a file") }
                options.anchorFile = file
            case "--resolve":
                guard let text = reader.next(), let entry = override(text) else {
                    return .complaint("--resolve needs host:address, such as example.com:127.0.0.1")
                }
                options.hostOverrides[entry.host] = entry.address
            case "-x", "--proxy":
                guard let text = reader.next(), let proxy = proxy(text) else {
                    return .complaint("--proxy needs a URL such as http://proxy.example:8080 or socks5h://127.0.0.1")
                }
                options.proxy = proxy
            case "-U", "--proxy-user":
                guard let text = reader.next(), let user = user(text) else {
                    return .complaint("--proxy-user needs a user and a password, such as user:password")
                }
                proxyUser = user
            case "--noproxy":
                guard let list = reader.next() else {
                    return .complaint("--noproxy needs a list of hosts, such as localhost,.example.com")
                }
                options.proxyExceptions = list
            case "--unix-socket":
                guard let path = reader.next(), !path.isEmpty else { return .complaint("--unix-socket needs a path") }
                options.socketPath = path
            case "--interface":
                guard let place = reader.next(), !place.isEmpty else {
                    return .complaint("--interface needs the name of an interface, or an address of this machine")
                }
                if isAddress(place) { options.localAddress = place } else { options.interface = place }
            case "--max-time":
                guard let text = reader.next(), let seconds = Double(text), seconds > 0, seconds.isFinite else {
                    return .complaint("--max-time needs a number of seconds")
                }
                options.maximumTime = seconds
            case "-H", "--header":
                guard let text = reader.next(), let field = field(text) else {
                    return .complaint("-H needs a field, such as 'Accept: text/html'")
                }
                options.fields.append(field)
            default:
                if argument.hasPrefix("-"), argument != "-" { return .complaint("there is no option \(argument)") }
                if target != nil { return .complaint("one URL at a time, please") }
                target = argument
            }
        }
        guard let target else { return .complaint("which URL?") }
        guard let url = URL(string: target), let scheme = url.scheme, !scheme.isEmpty else {
            return .complaint("\(target) is not a URL; it should look like https://example.com/")
        }
        options.url = url
        if let proxyUser {
            guard case .server(var proxy) = options.proxy else { return .complaint("--proxy-user needs --proxy") }
            proxy.applyCredential(username: proxyUser.name, password: proxyUser.password)
            options.proxy = .server(proxy)
        }
        return .fetch(options)
    }

    /// "host:address"; an IPv6 address may stand in brackets or not.
    private static func override(_ text: String) -> (host: String, address: String)? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let host = text[..<colon]
        var address = text[text.index(after: colon)...]
        if address.hasPrefix("["), address.hasSuffix("]") { address = address.dropFirst().dropLast() }
        guard !host.isEmpty, !address.isEmpty else { return nil }
        return (host.lowercased(), String(address))
    }

    private static func proxy(_ text: String) -> Proxy? {
        text.isEmpty ? Proxy.direct : ProxyConfiguration(url: text).map(Proxy.server)
    }

    /// "user:password"; a user alone has an empty password.
    private static func user(_ text: String) -> (name: String, password: String)? {
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        guard colon != text.startIndex else { return nil }
        return (String(text[..<colon]), String(text[colon...].dropFirst()))
    }

    /// Interfaces have letters in their names, and no colons.
    private static func isAddress(_ text: String) -> Bool {
        text.contains(":") || text.allSatisfy { $0 == "." || ("0"..."9").contains($0) }
    }

    private static func field(_ text: String) -> (name: String, value: String)? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let name = text[..<colon].trimmingCharacters(in: .whitespaces)
        let value = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        return name.isEmpty ? nil : (name, value)
    }
}

/// Hands out arguments, with "--name=value" as two.
private struct ArgumentReader {
    private var rest: ArraySlice<String>

    init(_ arguments: [String]) { rest = arguments[...] }

    mutating func next() -> String? {
        guard let argument = rest.popFirst() else { return nil }
        guard argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") else { return argument }
        rest.insert(String(argument[argument.index(after: equals)...]), at: rest.startIndex)
        return String(argument[..<equals])
    }
}
