// All options. Their spelling is curl's wherever curl has the same; docs/fetch.md says what each one does.

import Foundation
import URLLoading

extension OptionRule {
    /// Every option but those that end the reading: help and version.
    package static let all: [OptionRule] = request + way + trust + answer + reports

    private static let request: [OptionRule] = [
        .reading("X", "request", "a method such as PUT", OptionValue.method) { $0.method = $1 },
        .reading("H", "header", "a field, such as 'Accept: text/html'", OptionValue.field) { $0.fields.append($1) },
        .value("d", "data", "a text, or @ and a file") { (options, text) throws(UsageError) in
            try options.addToForm(OptionValue.piece(text, keepsLines: false))
        },
        .value(nil, "data-binary", "a text, or @ and a file") { (options, text) throws(UsageError) in
            try options.addToForm(OptionValue.piece(text, keepsLines: true))
        },
        .value(nil, "json", "a text, or @ and a file") { (options, text) throws(UsageError) in
            try options.addToJSON(OptionValue.piece(text, keepsLines: true))
        },
        .value("T", "upload-file", "a file, or - for standard input") { (options, text) throws(UsageError) in
            guard !text.isEmpty else { throw UsageError("--upload-file needs a file, or - for standard input") }
            guard options.body == .none else { throw Options.twoBodies }
            options.body = .upload(text)
        },
        .value("F", "form", FormPart.form) { (options, text) throws(UsageError) in
            try options.addToMultipart(FormPart.read(text))
        },
        .value(nil, "form-string", "NAME=TEXT") { (options, text) throws(UsageError) in
            try options.addToMultipart(FormPart.literal(text))
        },
        .flag("G", "get") { $0.putsDataInQuery = true },
        .flag("I", "head") { options in
            options.method = "HEAD"
            options.showsHead = true
        },
        .text("A", "user-agent", "a text") { $0.setField("User-Agent", $1) },
        .text("e", "referer", "a URL") { $0.setField("Referer", $1) },
        .reading("r", "range", "bytes, such as 0-499 or -500", OptionValue.range) { $0.range = $1 },
        .flag(nil, "compressed") { $0.acceptsCompression = true },
        .reading("u", "user", "a user, or user:password", OptionValue.login) { $0.login = $1 },
        .flag("n", "netrc") { if $0.netrc == nil { $0.netrc = .home } },
        .text(nil, "netrc-file", "a file") { $0.netrc = .file($1) },
        .flag(nil, "negotiate") { $0.usesTicket = true },
        .text("b", "cookie", "name=value, or a file of cookies") {
            $0.cookies = $1.contains("=") ? .literal($1) : .file($1)
        },
        .text("c", "cookie-jar", "a file") { $0.cookieJar = $1 },
    ]

    private static let way: [OptionRule] = [
        .flag("L", "location") { $0.followsRedirects = true },
        .flag(nil, "no-redirects") { $0.followsRedirects = false },
        .reading(nil, "max-redirs", "a number", OptionValue.count) { $0.maximumRedirects = $1 },
        .reading(
            nil, "resolve", "host:port:address, such as example.com:443:127.0.0.1 or example.com:443:[::1],127.0.0.1",
            OptionValue.override
        ) { $0.hostOverrides[$1.host] = $1.addresses },
        .reading(
            "x", "proxy", "a URL such as http://proxy.example:8080 or socks5h://127.0.0.1", OptionValue.proxy
        ) { $0.proxy = $1 },
        .reading("U", "proxy-user", "a user and a password, such as user:password", OptionValue.login) {
            $0.proxyLogin = $1
        },
        .value(nil, "noproxy", "a list of hosts, such as localhost,.example.com") { (options, list) in
            options.proxyExceptions = list
        },
        .text(nil, "unix-socket", "a path") { $0.socketPath = $1 },
        .text(nil, "interface", "the name of an interface, or an address of this machine") {
            if OptionValue.isAddress($1) { $0.localAddress = $1 } else { $0.interface = $1 }
        },
        .reading("m", "max-time", "a number of seconds", OptionValue.seconds) { $0.maximumTime = $1 },
        .reading(nil, "timeout", "a number of seconds", OptionValue.seconds) { $0.idleTime = $1 },
        .reading(nil, "linger", "a number of seconds", OptionValue.secondsOrNone) { $0.patience = $1 },
        .reading(nil, "retry", "a number of times", OptionValue.count) { $0.retries = $1 },
        .reading(nil, "retry-delay", "a number of seconds", OptionValue.seconds) { $0.retryDelay = $1 },
        .flag(nil, "cache") { $0.usesCache = true },
        .flag(nil, "http1.1") { $0.http2 = .off },
        .flag(nil, "http2") { $0.http2 = .offered },
        .flag(nil, "http2-prior-knowledge") { $0.http2 = .priorKnowledge },
    ]

    private static let trust: [OptionRule] = [
        .text(nil, "cacert", "a file of certificates in PEM form") { $0.anchorFile = $1 },
        .flag(nil, "insecure") { $0.acceptsAnyCertificate = true },
        .reading(nil, "pinnedpubkey", "sha256//… of a public key, several joined by ;", OptionValue.pins) {
            $0.pins = $1
        },
        .text("E", "cert", "a file in PEM or PKCS #12 form") { $0.certificateFile = $1 },
        .text(nil, "key", "a file in PEM form") { $0.keyFile = $1 },
        .text(nil, "pass", "a passphrase") { $0.passphrase = $1 },
    ]

    private static let answer: [OptionRule] = [
        .text("o", "output", "a file, or - for standard output") { $0.outputs.append($1) },
        .flag("O", "remote-name") { $0.usesRemoteNames = true },
        .flag("J", "remote-header-name") { $0.believesServersNames = true },
        .reading("C", "continue-at", "- or a number of bytes", OptionValue.resumption) { $0.resumption = $1 },
        .flag("i", "include") { $0.showsHead = true },
        .flag("f", "fail") { $0.failsOnErrorStatus = true },
        .reading(nil, "parallel", "a number from 1 to 100", OptionValue.parallel) { $0.parallel = $1 },
    ]

    private static let reports: [OptionRule] = [
        .flag("v", "verbose") { $0.isVerbose = true },
        .flag("s", "silent") { $0.isSilent = true },
        .flag("S", "show-error") { $0.showsErrors = true },
        .flag(nil, "timing") { $0.showsTiming = true },
        .text(nil, "har", "a file") { $0.harFile = $1 },
        .flag(nil, "har-with-secrets") { $0.keepsSecretsInHAR = true },
        .value("w", "write-out", "a text with %{variables}") { (options, text) throws(UsageError) in
            options.writeOut = try WriteOutFormat(text)
        },
    ]
}

extension Options {
    fileprivate mutating func addToForm(_ piece: BodyPiece) throws(UsageError) {
        switch body {
        case .none: body = .form([piece])
        case .form(let pieces): body = .form(pieces + [piece])
        case .json, .multipart, .upload: throw Self.twoBodies
        }
    }

    fileprivate mutating func addToJSON(_ piece: BodyPiece) throws(UsageError) {
        switch body {
        case .none: body = .json([piece])
        case .json(let pieces): body = .json(pieces + [piece])
        case .form, .multipart, .upload: throw Self.twoBodies
        }
    }

    fileprivate mutating func addToMultipart(_ part: FormPart?) throws(UsageError) {
        guard let part else { throw UsageError("--form needs \(FormPart.form)") }
        switch body {
        case .none: body = .multipart([part])
        case .multipart(let parts): body = .multipart(parts + [part])
        case .form, .json, .upload: throw Self.twoBodies
        }
    }

    fileprivate static var twoBodies: UsageError { UsageError("a request has one body: -T, -d, -F or --json") }

    fileprivate mutating func setField(_ name: String, _ value: String) {
        fields.removeAll { $0.name.caseInsensitiveCompare(name) == .orderedSame }
        fields.append(HeaderField(name: name, value: value))
    }
}

extension FormPart {
    fileprivate static let form = "NAME=TEXT, NAME=@FILE or NAME=<FILE, and behind it ;type=TYPE or ;filename=NAME"
}
