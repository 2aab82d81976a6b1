// What is advised about errors: nothing that the user does already, or that cannot help.

import Foundation
import Testing
import URLLoading
import URLLoadingFetch

@Suite("fetch: advice")
struct AdviceTests {
    private func options(_ arguments: String...) throws -> Options {
        guard case .fetch(let groups) = try CommandLineReading.read(arguments + ["http://a/"]) else {
            throw CocoaError(.featureUnsupported)
        }
        return try #require(groups.first)
    }

    private func tls(_ code: URLLoadingErrorDomain.TLSCode) -> URLError {
        let cause = NSError(domain: URLLoadingErrorDomain.tls, code: code.rawValue)
        return URLError(.secureConnectionFailed, userInfo: [NSUnderlyingErrorKey: cause])
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
        for code in [ExitCode.badResponse, .noAnswer] {
            let error = URLError(.networkConnectionLost, userInfo: [NSURLErrorFailingURLErrorKey: url])
            #expect((Advice.about(code, error) != nil) == (scheme == "http"))
        }
        let lost = URLError(.networkConnectionLost, userInfo: [NSURLErrorFailingURLErrorKey: url])
        #expect((Advice.about(.connectionLost, lost) != nil) == scheme.hasPrefix("http"))
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
