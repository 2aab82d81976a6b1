// fetch: writes what is behind a URL to standard output. A small user of the public API, and nothing but that.

import Foundation
import URLLoading

/// The command.
@main
enum Fetch {
    static func main() async {
        let code: ExitCode
        switch FetchOptions.read(Array(CommandLine.arguments.dropFirst())) {
        case .help:
            code = Terminal.write(Usage.text) ? .success : .cannotWrite
        case .complaint(let complaint):
            Terminal.complain("\(complaint) (fetch --help tells more)")
            code = .usage
        case .fetch(let options):
            code = await run(options)
        }
        exit(code.rawValue)
    }

    private static func run(_ options: FetchOptions) async -> ExitCode {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.hostOverrides = options.hostOverrides
        configuration.unixSocketPath = options.socketPath
        configuration.localAddress = options.localAddress
        configuration.networkInterface = options.interface
        chooseProxy(options, configuration)
        configuration.urlCache = options.usesCache ? URLCache(memoryCapacity: 0, diskCapacity: 64 << 20) : nil
        if let seconds = options.maximumTime { configuration.timeoutIntervalForResource = seconds }
        if options.acceptsAnyCertificate {
            configuration.serverTrustEvaluation = .dangerouslyAcceptAnyCertificate
        } else if let file = options.anchorFile {
            guard let pem = try? String(contentsOfFile: file, encoding: .utf8), pem.contains("-----BEGIN") else {
                Terminal.complain("\(file) cannot be read, or holds no certificate in PEM form")
                return .badAnchorFile
            }
            configuration.serverTrustEvaluation = .anchors(pem: pem)
        }
        var request = URLRequest(url: options.url)
        for field in options.fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
        return await Transfer(options).run(request, configuration)
    }

    private static func chooseProxy(_ options: FetchOptions, _ configuration: URLSessionConfiguration) {
        switch options.proxy {
        case .server(var proxy):
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
}

/// Standard output and standard error.
enum Terminal {
    /// Writes to standard output, waiting where it is slow; false where it cannot be written.
    static func write(_ text: String) -> Bool { write(Data(text.utf8)) }

    /// Writes to standard output, waiting where it is slow; false where it cannot be written.
    static func write(_ data: Data) -> Bool {
        do {
            try FileHandle.standardOutput.write(contentsOf: data)
            return true
        } catch {
            return false
        }
    }

    /// One line for a person to read.
    static func complain(_ message: String) {
        note("fetch: " + message.split(whereSeparator: \.isNewline).joined(separator: " "))
    }

    /// A line beside the output.
    static func note(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }
}

private enum Usage {
    static var text: String {
        let codes = ExitCode.allCases.sorted { $0.rawValue < $1.rawValue }
            .map { "  \(String(repeating: " ", count: 3 - "\($0.rawValue)".count))\($0.rawValue)  \($0.meaning)" }
        return """
            usage: fetch [options] URL

            Writes the body behind an http or https URL to standard output.

              -i, --include            write the status and the fields before the body
              -f, --fail               end with 22, and write no body, where the status is 400 or above
              -v, --verbose            say on standard error who answered and where the time went
              -H, --header FIELD       send one more field, such as 'Accept: text/html'
                  --cacert FILE        trust the certificates of this PEM file, and no others
                  --insecure           accept any certificate: anybody in between can read and change everything
                  --resolve HOST:ADDR  use this address for the host and do not look it up
              -x, --proxy URL          go through this proxy (http, https, socks4, socks4a, socks5, socks5h), '' for none;
                                       without it http_proxy, https_proxy and all_proxy count
              -U, --proxy-user U:P     user and password for the proxy
                  --noproxy LIST       hosts to reach without a proxy, in place of no_proxy; * for all
                  --unix-socket PATH   connect to this UNIX-domain socket, whatever the URL's host
                  --interface NAME     connect over this interface, or from this address of this machine
                  --cache              use and fill the cache in ~/.cache/fetch, and say on standard error whether it was
                                       a hit, revalidated or a miss
                  --max-time SECONDS   give up after so long
              -h, --help               this text

            Ends with:
            \(codes.joined(separator: "\n"))

            """
    }
}
