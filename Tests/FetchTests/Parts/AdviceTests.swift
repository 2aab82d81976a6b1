// What is advised about errors: nothing that the user does already, or that cannot help.

import Foundation
import Testing
import URLLoading
import URLLoadingFetch

@Suite("fetch: advice")
struct AdviceTests {
    private func options(_ arguments: String...) throws -> Options { try options(arguments + ["http://a/"]) }

    private func options(_ words: [String]) throws -> Options {
        guard case .fetch(let groups) = try CommandLineReading.read(words) else {
            throw CocoaError(.featureUnsupported)
        }
        return try #require(groups.first)
    }

    private func tls(_ code: URLLoadingErrorDomain.TLSCode) -> URLError {
        let cause = NSError(domain: URLLoadingErrorDomain.tls, code: code.rawValue)
        return URLError(.secureConnectionFailed, userInfo: [NSUnderlyingErrorKey: cause])
    }

    private func lost(_ url: URL, _ cause: NSError? = nil) -> URLError {
        var userInfo: [String: Any] = [NSURLErrorFailingURLErrorKey: url]
        userInfo[NSUnderlyingErrorKey] = cause
        return URLError(.networkConnectionLost, userInfo: userInfo)
    }

    private func http(_ text: String) -> NSError {
        NSError(
            domain: URLLoadingErrorDomain.http, code: URLLoadingErrorDomain.HTTPCode.malformedResponse.rawValue,
            userInfo: [NSLocalizedDescriptionKey: text])
    }

    @Test("An older TLS is advised where nothing is in common, and no version was chosen; not for each alert")
    func olderTLS() throws {
        let unset = try options()
        #expect(Advice.about(.tlsFailed, tls(.noCommonVersionOrCipher), unset)?.contains("--tlsv1.0") == true)
        #expect(Advice.about(.tlsFailed, tls(.alertReceived), unset) == nil)
        for options in [try options("--tlsv1.3"), try options("--tls-max", "1.2")] {
            let advice = Advice.about(.tlsFailed, tls(.noCommonVersionOrCipher), options)
            #expect(advice?.contains("--tls-max") == true && advice?.contains("--tlsv1.0") == false)
        }
    }

    @Test("https:// is advised for http, and for nothing else", arguments: ["http", "https", "ws", "wss"])
    func scheme(scheme: String) throws {
        let url = try #require(URL(string: "\(scheme)://a/"))
        for text in ["The server's answer does not start with HTTP/.", "The server answers in TLS, as …"] {
            let error = lost(url, http(text))
            for code in [ExitCode.badResponse, .noAnswer] {
                #expect((Advice.about(code, error) != nil) == (scheme == "http"))
            }
        }
        #expect((Advice.about(.connectionLost, lost(url)) != nil) == scheme.hasPrefix("http"))
        // A server of TLS may reset the connection where it is spoken to without; not when it has answered.
        let reset = [false, true].map { Advice.about(.connectionFailed, lost(url), hasAnswer: $0) ?? "" }
        #expect(reset.map { $0.contains("https://") } == [scheme == "http", false])
    }

    @Test("Other answers that cannot be read are advised about where something can be done")
    func badAnswers() throws {
        let url = try #require(URL(string: "http://a/"))
        #expect(Advice.about(.badResponse, lost(url, http("There are more than 100 fields."))) == nil)
        let known = Advice.about(.badResponse, lost(url, http("The peer does not begin as HTTP/2 does.")))
        #expect(known?.contains("leave --http2-prior-knowledge out") == true)
    }

    @Test("-C - is advised where the body goes into a file")
    func goingOn() throws {
        let url = try #require(URL(string: "https://a/"))
        for (arguments, isFile) in [(["-o", "f"], true), (["-O"], true), (["-o", "-"], false), ([], false)] {
            let options = try options(arguments + (isFile ? ["http://a/b"] : ["http://a/"]))
            let advice = try #require(Advice.about(.connectionFailed, lost(url), options, hasAnswer: true))
            #expect(advice.hasPrefix("--retry 3 tries again") && advice.contains("-C -") == isFile)
        }
    }

    @Test("Who cannot be connected to: the proxy, the server, or what a local address or a socket's path is about")
    func connecting() throws {
        func refused(_ text: String, _ cause: NSError) -> URLError {
            URLError(
                .cannotConnectToHost, userInfo: [NSUnderlyingErrorKey: cause, NSLocalizedDescriptionKey: text])
        }
        let system = NSError(domain: NSPOSIXErrorDomain, code: Int(ECONNREFUSED))
        func ofCFNetwork(_ code: CFNetworkErrors) -> NSError {
            NSError(domain: kCFErrorDomainCFNetwork as String, code: Int(code.rawValue))
        }
        let server = refused("No connection to a.", system)
        #expect(Advice.about(.cannotConnect, server, try options())?.hasPrefix("does the server run") == true)
        for arguments in [["--interface", "eth9"], ["--interface", "127.0.0.1"], ["--unix-socket", "/nope"]] {
            #expect(Advice.about(.cannotConnect, server, try options(arguments + ["http://a/"])) == nil)
        }
        for proxy in [
            refused("No connection.", ofCFNetwork(.cfErrorHTTPProxyConnectionFailure)),
            refused("No connection to the proxy socks5h://a:1.", system),
        ] {
            #expect(Advice.about(.cannotConnect, proxy, try options())?.hasPrefix("is the proxy right?") == true)
        }
        let busy = refused("The server is not available.", ofCFNetwork(.cfftpErrorUnexpectedStatusCode))
        #expect(Advice.about(.cannotConnect, busy, try options()) == nil)
    }

    @Test("Who has said who they are is not asked to")
    func identity() throws {
        #expect(Advice.about(status: 401, try options())?.contains("-u NAME") == true)
        let known = Advice.about(status: 401, try options("-u", "ann:x"))
        #expect(known == "the server does not take this name and password; -v shows who asks")
        #expect(Advice.about(status: 401, try options("--oauth2-bearer", "x"))?.contains("this token") == true)
        #expect(Advice.about(.loginRefused, nil, try options())?.contains("-u NAME") == true)
        #expect(Advice.about(.loginRefused, nil, try options("-u", "ann:x")) == nil)
    }

    @Test("More redirects are advised where fewer than the library follows were chosen, and the cookie always")
    func redirects() throws {
        let most = Advice.about(.tooManyRedirects, nil, try options("--max-redirs", "20"))
        #expect(most == Advice.about(.tooManyRedirects, nil, try options()))
        #expect(most == "a server that goes in circles may wait for its cookie: -c jar -b jar; -v shows where it leads")
        let few = Advice.about(.tooManyRedirects, nil, try options("--max-redirs", "19"))
        #expect(few?.hasPrefix("--max-redirs N follows more, up to 20; a server that goes in circles") == true)
    }

    @Test("To leave --compressed out is advised where it is given")
    func compressed() throws {
        #expect(Advice.about(.cannotDecode, nil, try options()) == nil)
        #expect(Advice.about(.cannotDecode, nil, try options("--compressed")) != nil)
    }
}
