// What contradicts itself on a command line, told before anything is asked for. Pure.

import Foundation

/// Looks for contradictions.
enum OptionConflicts {
    /// Throws the first that is found in the options of a group.
    static func check(_ options: Options, isOnly: Bool) throws(UsageError) {
        guard !options.targets.isEmpty else {
            throw isOnly
                ? UsageError("which URL?", advice: "fetch URL gets what is behind it; fetch --help tells more")
                : UsageError("there is no URL before or behind a --next")
        }
        try checkQuery(options)
        try checkIdentity(options)
        try checkBody(options)
        try checkFields(options.fields)
        try checkWay(options)
        try checkOutput(options)
        if options.resumption != nil { try checkResumption(options) }
        if options.isExperiment { try checkExperiment(options) }
        if options.targets.contains(where: \.url.isWebSocket) {
            try checkWebSocket(options, isOnly: isOnly)
        } else if options.patience != nil {
            throw UsageError("--linger is for web sockets")
        }
        for url in options.urls where url.isOfNoHTTP {
            try checkOtherScheme(options, url)
        }
    }

    private static func checkQuery(_ options: Options) throws(UsageError) {
        guard options.putsDataInQuery else { return }
        guard case .form = options.body else {
            throw UsageError("--get needs --data: that is what goes into the query")
        }
    }

    /// Options of which each says which user asks: passwords, tokens, cookies.
    private static func checkIdentity(_ options: Options) throws(UsageError) {
        if options.login != nil, options.netrc != nil {
            throw UsageError("--user and --netrc both say who we are: leave one out")
        }
        if options.bearerToken != nil, options.login != nil {
            throw UsageError("--oauth2-bearer and --user both say who we are: leave one out")
        }
        if options.cookieField != nil, !options.cookieFiles.isEmpty {
            throw UsageError(
                "--cookie has a text and a file: leave one out",
                advice: "a Cookie field of yours is sent without the cookies of a file")
        }
    }

    private static func checkBody(_ options: Options) throws(UsageError) {
        // The library writes it in capitals as well.
        if options.method?.uppercased() == "CONNECT" {
            throw UsageError("--request cannot be CONNECT: it belongs to proxies", advice: "-x names a proxy")
        }
        if case .multipart = options.body,
            let type = options.fields.last(where: { $0.name.lowercased() == "content-type" }),
            !type.value.lowercased().hasPrefix("multipart/")
        {
            throw UsageError("--form sends a multipart body: leave the Content-Type out")
        }
        if options.range != nil, options.acceptsCompression {
            throw UsageError("--range cannot go with --compressed: parts are of the bytes sent")
        }
        if options.sendsBody, options.method == "HEAD" {
            throw UsageError("--head sends no body: leave it or the body out")
        }
        if options.sendsBody, options.method == "GET" {
            let isForm = if case .form = options.body { true } else { false }
            throw UsageError(
                "a GET sends no body: leave --request GET out, or the body"
                    + (isForm ? ", or put it into the query with --get" : ""))
        }
    }

    /// What the library says by itself, of the body that it sends and of its connection; it takes no other word for it.
    private static let reservedFields: Set<String> = [
        "content-length", "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding",
        "upgrade",
    ]

    private static func checkFields(_ fields: [HeaderField]) throws(UsageError) {
        let names = fields.map { $0.name.lowercased() }
        if names.contains("proxy-authorization") {
            throw UsageError(
                "Proxy-Authorization is not sent by --header", advice: "-U NAME says who we are to the proxy")
        }
        if let number = names.firstIndex(where: reservedFields.contains) {
            throw UsageError(
                "\(fields[number].name) is not sent by --header", advice: "it follows from the body and the connection")
        }
        if names.count(where: { $0 == "host" }) > 1 { throw UsageError("a request has one Host: leave the other out") }
    }

    private static func checkWay(_ options: Options) throws(UsageError) {
        if options.proxyLogin != nil {
            guard case .server = options.proxy else { throw UsageError("--proxy-user needs --proxy") }
        }
        // What the system has room for in an address (unix(7)), and the NUL behind it.
        if let path = options.socketPath, path.utf8.count > 107 {
            throw UsageError("--unix-socket needs a path of no more than 107 bytes")
        }
        if options.keyFile != nil, options.certificateFile == nil { throw UsageError("--key needs --cert") }
        if options.retries == 0 {
            if options.retryDelay != nil { throw UsageError("--retry-delay needs --retry") }
            if options.retryTime != nil { throw UsageError("--retry-max-time needs --retry") }
            if options.retriesAllErrors { throw UsageError("--retry-all-errors needs --retry") }
        }
        let hasAnchors = options.anchorFile != nil || options.anchorFolder != nil
        if options.acceptsAnyCertificate, hasAnchors || !options.pins.isEmpty {
            throw UsageError("--insecure trusts every server, --cacert and --pinnedpubkey do not: leave one out")
        }
        if let lowest = options.lowestTLS, let highest = options.highestTLS, highest < lowest {
            throw UsageError("--tls-max \(highest.rawValue) is below --tlsv\(lowest.rawValue)")
        }
        for target in options.targets {
            guard let host = target.url.host(), let family = options.addressFamily else { continue }
            guard !OptionValue.isAddress(host) || host.contains(":") == (family == .ipv6) else {
                throw UsageError("\(host) is no address of --\(family == .ipv4 ? "ipv4" : "ipv6")", code: .hostNotFound)
            }
        }
    }

    private static func checkOutput(_ options: Options) throws(UsageError) {
        if options.keepsSecretsInHAR, options.harFile == nil { throw UsageError("--har-with-secrets needs --har") }
        if options.believesServersNames, !options.usesRemoteNames {
            throw UsageError("--remote-header-name needs --remote-name")
        }
        if options.failsOnErrorStatus, options.failsWithBody {
            throw UsageError("--fail keeps no body and --fail-with-body does: leave one out")
        }
        let hasFiles = options.targets.contains(where: \.isIntoFile)
        if options.outputFolder != nil, !hasFiles { throw UsageError("--output-dir needs --output or --remote-name") }
        if options.savedTag != nil || options.comparedTag != nil {
            guard options.targets.count == 1 else { throw UsageError("--etag-save and --etag-compare are for one URL") }
        }
    }

    private static func checkResumption(_ options: Options) throws(UsageError) {
        guard options.targets.allSatisfy(\.isIntoFile) else {
            throw UsageError("--continue-at needs --output or --remote-name")
        }
        if options.believesServersNames {
            throw UsageError("--continue-at cannot know the names that servers will give")
        }
        if options.keepsOldFiles { throw UsageError("--continue-at and --no-clobber contradict each other") }
        if options.showsHead { throw UsageError("--continue-at cannot go with --include or --head") }
        if options.range != nil { throw UsageError("--continue-at and --range both ask for a part") }
        if options.sendsBody { throw UsageError("--continue-at cannot go with a body") }
        if options.isConditional { throw UsageError("--continue-at cannot go with --time-cond or --etag-compare") }
        if options.acceptsCompression {
            throw UsageError("--continue-at cannot go with --compressed: parts are of the bytes sent")
        }
    }

    private static func checkExperiment(_ options: Options) throws(UsageError) {
        let name = options.repetitions != nil ? "--repeat" : "--compare"
        if options.repetitions != nil, options.comparison != nil {
            throw UsageError("--repeat and --compare are two reports: leave one out")
        }
        guard options.targets.count == 1 else { throw UsageError("\(name) is for one URL") }
        guard options.targets[0].output == nil, options.headFile == nil, !options.showsHead, options.writeOut == nil,
            options.retries == 0, options.savedTag == nil
        else {
            throw UsageError(
                "\(name) writes a report, and knows no --output, --include, --dump-header, --write-out, --retry and --etag-save"
            )
        }
        if options.body == .upload("-") { throw UsageError("\(name) cannot send standard input more than once") }
    }

    private static func checkWebSocket(_ options: Options, isOnly: Bool) throws(UsageError) {
        guard options.targets.count == 1, isOnly else { throw UsageError("one web socket at a time, please") }
        if options.sendsBody || options.method != nil {
            throw UsageError("a web socket takes its messages from standard input")
        }
        if options.resumption != nil || !options.outputs.isEmpty {
            throw UsageError("a web socket's messages go to standard output")
        }
        if options.http2 == .offered || options.http2 == .priorKnowledge {
            throw UsageError("a web socket begins in HTTP/1.1: leave --http2 and --http2-prior-knowledge out")
        }
        let isForTransfers: [(String, Bool)] = [
            ("include", options.showsHead), ("fail", options.failsOnErrorStatus || options.failsWithBody),
            ("retry", options.retries > 0), ("cache", options.usesCache), ("compressed", options.acceptsCompression),
            ("range", options.range != nil), ("write-out", options.writeOut != nil),
            ("parallel", options.isParallel || options.parallel != nil), ("no-location", !options.followsRedirects),
            ("max-redirs", options.maximumRedirects != nil), ("dump-header", options.headFile != nil),
            ("limit-rate", options.rateLimit != nil), ("max-filesize", options.largestFile != nil),
            ("time-cond", options.condition != nil), ("repeat", options.repetitions != nil),
            ("compare", options.comparison != nil),
            ("etag-save", options.savedTag != nil), ("etag-compare", options.comparedTag != nil),
        ]
        if let name = isForTransfers.first(where: \.1)?.0 { throw UsageError("a web socket knows no --\(name)") }
    }

    /// The library looks at none of these where no HTTP is spoken: what comes would be taken for what was asked for.
    private static func checkOtherScheme(_ options: Options, _ url: URL) throws(UsageError) {
        let scheme = url.scheme?.lowercased() ?? ""
        switch options.body {
        case .none: break
        case .upload where url.isFTP: break
        case .upload, .form, .json, .object, .multipart:
            throw UsageError(
                "\(scheme) takes no body", advice: url.isFTP ? "--upload-file stores a file there" : nil)
        }
        let isForHTTP: [(String, Bool)] = [
            ("head", options.method == "HEAD"), ("request", options.method.map { $0 != "GET" } ?? false),
            ("range", options.range != nil),
            ("compressed", options.acceptsCompression), ("time-cond", options.condition != nil),
            ("etag-save", options.savedTag != nil), ("etag-compare", options.comparedTag != nil),
            ("url-query", !options.query.isEmpty), ("header, --user-agent and --referer", !options.fields.isEmpty),
            ("cookie", options.cookieField != nil), ("oauth2-bearer", options.bearerToken != nil),
            ("include", options.showsHead), ("dump-header", options.headFile != nil),
            ("remote-time", options.keepsTime), ("user", options.login != nil && !url.isFTP),
        ]
        guard let name = isForHTTP.first(where: \.1)?.0 else { return }
        throw UsageError(
            "\(scheme) knows no --\(name)",
            advice: "it is for http; what ~/.config/fetch/config has is left out by -q as the first word")
    }
}

extension URL {
    /// Whether it is the URL of a web socket.
    package var isWebSocket: Bool { ["ws", "wss"].contains(scheme?.lowercased() ?? "") }

    /// Whether it is a file on a server of FTP.
    var isFTP: Bool { ["ftp", "ftps"].contains(scheme?.lowercased() ?? "") }

    /// Whether it is loaded without HTTP.
    fileprivate var isOfNoHTTP: Bool { isFTP || ["file", "data"].contains(scheme?.lowercased() ?? "") }
}
