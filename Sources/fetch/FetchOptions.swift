// What the command line asks for. Pure: text in, a value or a complaint out.

import Foundation

/// The parsed command line.
struct FetchOptions {
    var url: URL
    var showsHead = false
    var isVerbose = false
    var failsOnErrorStatus = false
    var anchorFile: String?
    var acceptsAnyCertificate = false
    var hostOverrides: [String: String] = [:]
    var maximumTime: Double?
    var fields: [(name: String, value: String)] = []
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
            case "--cacert":
                guard let file = reader.next() else { return .complaint("--cacert needs a file") }
                options.anchorFile = file
            case "--resolve":
                guard let text = reader.next(), let entry = override(text) else {
                    return .complaint("--resolve needs host:address, such as example.com:127.0.0.1")
                }
                options.hostOverrides[entry.host] = entry.address
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
