// A session and its configuration, out of the options: trust, identity, way, cookies, cache.

import Foundation
import URLLoading

/// Makes the session of a group, and its configuration before it.
struct SessionSetup {
    let configuration = URLSessionConfiguration.ephemeral
    /// Where `--cookie-jar` finds what has been set.
    let cookies: HTTPCookieStorage

    init(_ options: Options, _ cookies: HTTPCookieStorage) throws(FetchError) {
        self.cookies = cookies
        configuration.hostOverrides = options.hostOverrides.merging(options.standIns) { $1 }
        configuration.unixSocketPath = options.socketPath
        configuration.localAddress = options.localAddress
        configuration.networkInterface = options.interface
        configuration.http2 = options.http2 ?? .offered
        configuration.urlCache = options.usesCache ? URLCache(memoryCapacity: 0, diskCapacity: 64 << 20) : nil
        configuration.httpCookieStorage = cookies
        // The delegate only shows the certificates, and the cache knows by this that the options alone decide.
        configuration.asksDelegatesAboutServers = options.isVerbose || options.showsTLS
        configuration.httpAdditionalHeaders = ["User-Agent": Help.agent]
        configuration.httpMaximumConnectionsPerHost = max(6, options.parallel ?? (options.isParallel ? 50 : 0))
        if let seconds = options.maximumTime { configuration.timeoutIntervalForResource = seconds }
        configuration.timeoutIntervalForConnection = options.connectionTime
        configuration.connectionProbeInterval = options.probeInterval
        if let seconds = options.idleTime { configuration.timeoutIntervalForRequest = seconds }
        chooseProxy(options)
        chooseAddresses(options)
        sendLoginAhead(options)
        try chooseTLS(options)
        try chooseTrust(options)
        try chooseIdentity(options)
        // `-b file` without a file begins with none, as in curl.
        for path in options.cookieFiles where access(path, F_OK) == 0 {
            let read = try CookieFile.read(path)
            read.filter { !options.dropsSessionCookies || !$0.isSessionOnly }.forEach(cookies.setCookie)
        }
    }

    /// Makes the session, which reads the variables about proxies now and never again. What --noproxy says stands in
    /// place of the user's exceptions meanwhile: the sessions of other groups read those.
    func makeSession(_ options: Options) -> URLSession {
        var users: [String: String?] = [:]
        if let exceptions = options.proxyExceptions {
            for name in ["no_proxy", "NO_PROXY"] {
                users.updateValue(getenv(name).map { String(cString: $0) }, forKey: name)
                // No request has been made yet, so that no other thread looks at the environment.
                setenv(name, exceptions, 1)
            }
        }
        defer {
            for (name, value) in users {
                if let value { setenv(name, value, 1) } else { unsetenv(name) }
            }
        }
        return URLSession(configuration: configuration, delegate: ChallengeDesk(), delegateQueue: nil)
    }

    /// With --ipv4 and --ipv6 the system is asked for addresses of that family alone.
    private func chooseAddresses(_ options: Options) {
        guard let family = options.addressFamily else { return }
        configuration.hostResolver = { host in
            URLSessionConfiguration.HostAddresses(try await FamilyResolver.addresses(of: host, family), timeToLive: 60)
        }
        // A session knows names under localhost by itself.
        if configuration.hostOverrides["localhost"] == nil {
            configuration.hostOverrides["localhost"] = family == .ipv4 ? "127.0.0.1" : "::1"
        }
    }

    /// Basic goes with the first request to the URLs' own servers: over TLS, and in clear where --basic says so.
    private func sendLoginAhead(_ options: Options) {
        guard options.loginMethod == nil && !options.usesTicket || options.loginMethod == .basic else { return }
        for url in options.targets.map(\.url) {
            guard let login = options.loginUsed(at: url),
                var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
            else { continue }
            (parts.user, parts.password, parts.path, parts.query, parts.fragment) = (nil, nil, "/", nil, nil)
            guard let origin = parts.url else { continue }
            configuration.basicCredentialsSentAhead[origin] = URLCredential(
                user: login.name, password: login.password ?? "", persistence: .none)
        }
        configuration.dangerouslySendsBasicAheadInClear = options.loginMethod == .basic
    }

    private func chooseTLS(_ options: Options) throws(FetchError) {
        if let lowest = options.lowestTLS { configuration.tlsMinimumSupportedProtocolVersion = lowest.version }
        if let highest = options.highestTLS {
            configuration.tlsMaximumSupportedProtocolVersion = highest.version
            if options.lowestTLS == nil, highest < .oneTwo {
                configuration.tlsMinimumSupportedProtocolVersion = highest.version
            }
        }
        guard options.logsKeys else { return }
        guard let file = ProcessInfo.processInfo.environment["SSLKEYLOGFILE"], !file.isEmpty else {
            throw FetchError(
                .usage, "--keylog needs the variable SSLKEYLOGFILE", advice: "SSLKEYLOGFILE=keys fetch --keylog URL")
        }
        configuration.tlsKeyLogFile = URL(fileURLWithPath: file)
    }

    private func chooseProxy(_ options: Options) {
        switch options.proxy {
        case .server(var proxy):
            if let login = options.proxyLogin {
                proxy.applyCredential(username: login.name, password: login.password ?? "")
            }
            let exceptions = options.proxyExceptions ?? ""
            proxy.excludedDomains = exceptions.split { $0 == "," || $0 == " " }.map(String.init)
            configuration.proxyConfigurations = [proxy]
        case .direct:
            configuration.connectionProxyDictionary = [:]
        // The environment's: `makeSession` sees to the exceptions.
        case nil: break
        }
    }

    private func chooseTrust(_ options: Options) throws(FetchError) {
        if options.acceptsAnyCertificate {
            Terminal.complain(
                "warning: --insecure: an attacker between here and the server can read and change everything")
            configuration.serverTrustEvaluation = .dangerouslyAcceptAnyCertificate
            return
        }
        var pem = ""
        if let file = options.anchorFile { pem = try Self.anchors(in: file) }
        if let folder = options.anchorFolder {
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
                throw FetchError(.badAnchorFile, "\(folder) cannot be read")
            }
            for name in names.sorted() {
                let path = "\(folder)/\(name)"
                // What is no file of certificates is left alone, as the system's own folder has such. A pipe would be
                // waited for.
                if !OutputPlace(path).isSpecial, let text = try? Self.anchors(in: path) { pem += "\n" + text }
            }
            if pem.isEmpty { throw FetchError(.badAnchorFile, "no file in \(folder) holds a certificate in PEM form") }
        }
        if !pem.isEmpty {
            configuration.serverTrustEvaluation = .anchors(pem: pem)
            if let problem = configuration.serverTrustEvaluation.problem {
                throw FetchError(.badAnchorFile, "\(options.anchorFile ?? options.anchorFolder ?? ""): \(problem)")
            }
        }
        if !options.pins.isEmpty {
            configuration.serverTrustEvaluation = .pinnedKeys(
                options.pins, besides: configuration.serverTrustEvaluation)
        }
    }

    private static func anchors(in file: String) throws(FetchError) -> String {
        let data = try contents(of: file, else: .badAnchorFile)
        guard let pem = String(data: data, encoding: .utf8), pem.contains("-----BEGIN") else {
            throw FetchError(.badAnchorFile, "\(file) holds no certificate in PEM form")
        }
        return pem
    }

    private static func contents(of file: String, else code: ExitCode) throws(FetchError) -> Data {
        do throws(InputFile.Unreadable) {
            return try InputFile.contents(of: file)
        } catch {
            throw FetchError(code, "\(file) cannot be read: \(error.reason)")
        }
    }

    private func chooseIdentity(_ options: Options) throws(FetchError) {
        guard let file = options.certificateFile else { return }
        let data = try Self.contents(of: file, else: .badIdentity)
        let key = try options.keyFile.map { (file) throws(FetchError) in try Self.contents(of: file, else: .badIdentity)
        }
        do {
            configuration.clientIdentities = .allHosts(try Self.identity(data, key: key, options))
        } catch {
            throw FetchError(.badIdentity, "\(file): \(error.localizedDescription)")
        }
    }

    private static func identity(
        _ data: Data, key: Data?, _ options: Options
    ) throws -> URLSessionConfiguration.ClientIdentity {
        let text = String(data: data, encoding: .utf8)
        guard let text, text.contains("-----BEGIN") else {
            return try .pkcs12(data, passphrase: options.passphrase ?? "")
        }
        let keyText = key.map { String(decoding: $0, as: UTF8.self) } ?? text
        return try .pem(certificates: text, key: keyText, passphrase: options.passphrase)
    }
}

extension TLSVersion {
    fileprivate var version: tls_protocol_version_t {
        switch self {
        case .one: .TLSv10
        case .oneOne: .TLSv11
        case .oneTwo: .TLSv12
        case .oneThree: .TLSv13
        }
    }
}
