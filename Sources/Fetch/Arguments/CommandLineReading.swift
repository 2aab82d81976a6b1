// Takes a command line apart: words, letters in bundles, values behind them or next to them. Pure.

import Foundation

/// What a command line comes to.
package enum CommandLineReading: Sendable {
    case fetch(Options)
    case help
    case version

    /// Reads the arguments after the command's name.
    package static func read(_ arguments: [String]) throws(UsageError) -> CommandLineReading {
        var reader = ArgumentReader(arguments)
        var options = Options()
        var targets: [String] = []
        while let argument = reader.next() {
            switch argument {
            case .operand(let text):
                targets.append(text)
            case .option("help"), .letter("h"):
                return .help
            case .option("version"), .letter("V"):
                return .version
            case .option(let word):
                guard let rule = OptionRule.all.first(where: { $0.word == word }) else { throw unknown(word) }
                try apply(rule, &reader, &options)
            case .letter(let letter):
                guard let rule = OptionRule.all.first(where: { $0.letter == letter }) else {
                    throw UsageError(
                        letter == "k"
                            ? "there is no option -k: write --insecure, and know that anybody in between can read and "
                                + "change everything" : "there is no option -\(letter)")
                }
                try apply(rule, &reader, &options)
            }
        }
        options.urls = try targets.map(url)
        try options.check()
        return .fetch(options)
    }

    private static func apply(
        _ rule: OptionRule, _ reader: inout ArgumentReader, _ options: inout Options
    ) throws(UsageError) {
        switch rule.effect {
        case .flag(let set):
            guard !reader.hasAttachedValue else { throw UsageError("--\(rule.word) takes no value") }
            set(&options)
        case .value(let needs, let read):
            guard let value = reader.value() else { throw UsageError("--\(rule.word) needs \(needs)") }
            try read(&options, value)
        }
    }

    private static let schemes = ["http", "https", "ws", "wss", "ftp", "ftps", "file", "data"]

    private static func url(_ text: String) throws(UsageError) -> URL {
        // In "localhost:8080" and "me:secret@host" the first word is a scheme to the grammar, and to nobody else.
        guard let url = URL(string: text), let scheme = url.scheme, !scheme.isEmpty,
            text.contains("://") || schemes.contains(scheme.lowercased())
        else {
            throw UsageError(
                "\(URLSecrets.hidden(mistyped: text)) is not a URL; it should look like https://example.com/")
        }
        return url
    }

    private static func unknown(_ word: String) -> UsageError {
        let near = OptionRule.all.map(\.word).map { (word: $0, distance: Spelling.distance($0, word)) }
            .filter { $0.distance <= max(1, word.count / 3) }
            .min { $0.distance < $1.distance }
        return UsageError("there is no option --\(word)" + (near.map { "; did you mean --\($0.word)?" } ?? ""))
    }
}

extension Options {
    /// What contradicts itself.
    fileprivate mutating func check() throws(UsageError) {
        guard !urls.isEmpty else { throw UsageError("which URL?") }
        if proxyLogin != nil {
            guard case .server = proxy else { throw UsageError("--proxy-user needs --proxy") }
        }
        if keyFile != nil, certificateFile == nil { throw UsageError("--key needs --cert") }
        if keepsSecretsInHAR, harFile == nil { throw UsageError("--har-with-secrets needs --har") }
        if retryDelay != nil, retries == 0 { throw UsageError("--retry-delay needs --retry") }
        if showsErrors, !isSilent { throw UsageError("--show-error needs --silent: errors are shown otherwise") }
        if acceptsAnyCertificate, anchorFile != nil || !pins.isEmpty {
            throw UsageError("--insecure trusts everybody, --cacert and --pinnedpubkey do not: leave one out")
        }
        if outputs.count > urls.count { throw UsageError("there are more --output than URLs") }
        if usesRemoteNames, !outputs.isEmpty { throw UsageError("--output and --remote-name both name the file") }
        if believesServersNames, !usesRemoteNames { throw UsageError("--remote-header-name needs --remote-name") }
        if putsDataInQuery {
            guard case .form = body else { throw UsageError("--get needs --data: that is what goes into the query") }
        }
        if login != nil, netrc != nil { throw UsageError("--user and --netrc both say who we are: leave one out") }
        if case .multipart = body, let type = fields.last(where: { $0.name.lowercased() == "content-type" }) {
            guard type.value.lowercased().hasPrefix("multipart/") else {
                throw UsageError("--form sends a multipart body: leave the Content-Type out")
            }
        }
        if sendsBody, method == "HEAD" { throw UsageError("--head sends no body: leave it or the body out") }
        if sendsBody, method == "GET" {
            throw UsageError(
                "a GET sends no body: leave --request GET out, or the body"
                    + (body.isForm ? ", or put it into the query with --get" : ""))
        }
        if resumption != nil { try checkResumption() }
        if urls.contains(where: \.isWebSocket) {
            try checkWebSocket()
        } else if patience != nil {
            throw UsageError("--linger is for web sockets")
        }
    }

    private func checkResumption() throws(UsageError) {
        guard usesRemoteNames || !outputs.isEmpty else {
            throw UsageError("--continue-at needs --output or --remote-name")
        }
        if believesServersNames { throw UsageError("--continue-at cannot know the names that servers will give") }
        if showsHead { throw UsageError("--continue-at cannot go with --include or --head") }
        if range != nil { throw UsageError("--continue-at and --range both ask for a part") }
        if sendsBody { throw UsageError("--continue-at cannot go with a body") }
        if acceptsCompression {
            throw UsageError("--continue-at cannot go with --compressed: parts are of the bytes sent")
        }
    }

    private func checkWebSocket() throws(UsageError) {
        guard urls.count == 1 else { throw UsageError("one web socket at a time, please") }
        if sendsBody || method != nil { throw UsageError("a web socket takes its messages from standard input") }
        if usesRemoteNames || resumption != nil || !outputs.isEmpty {
            throw UsageError("a web socket's messages go to standard output")
        }
        if http2 == .offered || http2 == .priorKnowledge {
            throw UsageError("a web socket begins in HTTP/1.1: leave --http2 and --http2-prior-knowledge out")
        }
        let isForTransfers =
            showsHead || failsOnErrorStatus || retries > 0 || usesCache || acceptsCompression || range != nil
            || writeOut != nil || parallel != nil || !followsRedirects || maximumRedirects != nil
        if isForTransfers {
            throw UsageError(
                "a web socket knows none of --include, --fail, --retry, --cache, --compressed, --range, --write-out, --parallel, "
                    + "--no-redirects and --max-redirs")
        }
    }
}

extension RequestBody {
    /// Whether it could be a query as well.
    fileprivate var isForm: Bool {
        if case .form = self { return true }
        return false
    }
}

extension URL {
    /// Whether it is the URL of a web socket.
    package var isWebSocket: Bool { ["ws", "wss"].contains(scheme?.lowercased() ?? "") }
}
