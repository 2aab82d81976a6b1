// The session's configuration, out of the options: trust, identity, way, cookies, cache.

import Foundation
import URLLoading

/// Makes the configuration of the one session.
struct SessionSetup {
    let configuration = URLSessionConfiguration.ephemeral
    /// Where `--cookie-jar` finds what has been set.
    let cookies = HTTPCookieStorage()

    init(_ options: Options) throws(FetchError) {
        configuration.hostOverrides = options.hostOverrides
        configuration.unixSocketPath = options.socketPath
        configuration.localAddress = options.localAddress
        configuration.networkInterface = options.interface
        configuration.http2 = options.http2 ?? .offered
        configuration.urlCache = options.usesCache ? URLCache(memoryCapacity: 0, diskCapacity: 64 << 20) : nil
        configuration.httpCookieStorage = cookies
        // The delegate only shows the certificates, and the cache knows by this that nobody but the options decides.
        configuration.asksDelegatesAboutServers = options.isVerbose
        configuration.httpAdditionalHeaders = ["User-Agent": Help.agent]
        configuration.httpMaximumConnectionsPerHost = max(6, options.parallel ?? 0)
        if let seconds = options.maximumTime { configuration.timeoutIntervalForResource = seconds }
        if let seconds = options.idleTime { configuration.timeoutIntervalForRequest = seconds }
        chooseProxy(options)
        try chooseTrust(options)
        try chooseIdentity(options)
        // `-b file` without a file begins with none, as in curl.
        if case .file(let path)? = options.cookies, access(path, F_OK) == 0 {
            try CookieFile.read(path).forEach(cookies.setCookie)
        }
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
        case nil:
            // Only this command's thread runs yet, and the session has not read the variables.
            if let exceptions = options.proxyExceptions { setenv("no_proxy", exceptions, 1) }
        }
    }

    private func chooseTrust(_ options: Options) throws(FetchError) {
        if options.acceptsAnyCertificate {
            Terminal.complain("warning: --insecure: anybody between here and the server can read and change everything")
            configuration.serverTrustEvaluation = .dangerouslyAcceptAnyCertificate
            return
        }
        if let file = options.anchorFile {
            guard let pem = try? String(contentsOfFile: file, encoding: .utf8), pem.contains("-----BEGIN") else {
                throw FetchError(.badAnchorFile, "\(file) cannot be read, or holds no certificate in PEM form")
            }
            configuration.serverTrustEvaluation = .anchors(pem: pem)
            if let problem = configuration.serverTrustEvaluation.problem {
                throw FetchError(.badAnchorFile, "\(file): \(problem)")
            }
        }
        if !options.pins.isEmpty {
            configuration.serverTrustEvaluation = .pinnedKeys(
                options.pins, besides: configuration.serverTrustEvaluation)
        }
    }

    private func chooseIdentity(_ options: Options) throws(FetchError) {
        guard let file = options.certificateFile else { return }
        guard let data = FileManager.default.contents(atPath: file) else {
            throw FetchError(.badIdentity, "\(file) cannot be read")
        }
        do {
            configuration.clientIdentities = .allHosts(try Self.identity(data, options))
        } catch {
            throw FetchError(.badIdentity, "\(file): \(error.localizedDescription)")
        }
    }

    private static func identity(_ data: Data, _ options: Options) throws -> URLSessionConfiguration.ClientIdentity {
        let text = String(data: data, encoding: .utf8)
        guard let text, text.contains("-----BEGIN") else {
            return try .pkcs12(data, passphrase: options.passphrase ?? "")
        }
        var key = text
        if let file = options.keyFile {
            guard let read = try? String(contentsOfFile: file, encoding: .utf8) else {
                throw FetchError(.badIdentity, "\(file) cannot be read")
            }
            key = read
        }
        return try .pem(certificates: text, key: key, passphrase: options.passphrase)
    }
}
