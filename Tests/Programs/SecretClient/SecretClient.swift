// One request of a program that is given passwords and writes down everything that it is told: a program of its own, so
// that a test can search all that a process writes, whatever code in it wrote it.
//
//     secret [--user name:password] [--proxy URL] [--direct host] [--field "name: value"] URL
//
// It trusts every server, and gives the credential to any server or proxy that asks, twice at most. Of a URL with a
// password it prints what is made of it, not the URL itself, in which the program has written the password down.

import Foundation
import URLLoading

/// Makes one request with passwords.
enum SecretClient {
    static func run(_ words: [String]) async {
        var options: [String: String] = [:]
        var arguments = words[...]
        while let name = arguments.first, name.hasPrefix("--"), arguments.count > 2 {
            options[name] = arguments.dropFirst().first
            arguments = arguments.dropFirst(2)
        }
        guard let url = arguments.first.flatMap(URL.init(string:)) else { return print("which URL?") }
        let session = session(options)
        let teller = Teller(dumps: url.password == nil)
        let witness = Witness(options["--user"], teller)
        var request = URLRequest(url: url)
        if let field = options["--field"]?.split(separator: ":", maxSplits: 1), field.count == 2 {
            request.setValue(field[1].trimmingCharacters(in: .whitespaces), forHTTPHeaderField: String(field[0]))
        }
        do {
            let (data, response) = try await session.data(for: request, delegate: witness)
            print("body: \(String(decoding: data, as: UTF8.self))")
            teller.tell(response)
        } catch {
            print("failed")
            teller.tell(error: error as NSError)
        }
        print("\(session) \(session.configuration)")
        session.invalidateAndCancel()
    }

    private static func session(_ options: [String: String]) -> URLSession {
        let configuration = URLSessionConfiguration.default
        // Cookies are meant to be kept; what this program writes to files must hold no secret.
        configuration.httpCookieStorage = URLSessionConfiguration.ephemeral.httpCookieStorage
        configuration.serverTrustEvaluation = .dangerouslyAcceptAnyCertificate
        configuration.connectionProxyDictionary = [:]
        if let text = options["--proxy"], var proxy = ProxyConfiguration(url: text) {
            proxy.excludedDomains = options["--direct"].map { [$0] } ?? []
            Teller(dumps: true).tell(proxy)
            configuration.proxyConfigurations = [proxy]
        }
        return URLSession(configuration: configuration)
    }
}

/// Prints things in every way.
private struct Teller {
    let dumps: Bool

    func tell<Value>(_ value: Value) {
        print(value)
        debugPrint(value)
        guard dumps else { return }
        var text = ""
        dump(value, to: &text)
        print(text)
    }

    /// An error with all that it carries, and the errors below it.
    func tell(error: NSError) {
        print(error.localizedDescription, error.localizedFailureReason ?? "", error.localizedRecoverySuggestion ?? "")
        // Foundation prints an error with the URL as it was asked for.
        if dumps { tell(error as any Error) }
        for (key, value) in error.userInfo where !(value is URL) && !key.contains("URLString") { tell(value) }
        if let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError { tell(error: cause) }
    }
}

/// Hears of everything and prints it.
private final class Witness: NSObject, URLSessionDataDelegate {
    private let user: [String]
    private let teller: Teller

    init(_ user: String?, _ teller: Teller) {
        self.teller = teller
        self.user = user?.split(separator: ":", maxSplits: 1).map(String.init) ?? []
    }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        print(task, task.taskDescription ?? "")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        teller.tell(response)
        teller.tell(request)
        completionHandler(request)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        teller.tell(challenge)
        teller.tell(challenge.protectionSpace)
        if let proposed = challenge.proposedCredential { teller.tell(proposed) }
        guard challenge.protectionSpace.serverTrust == nil, let name = user.first, let password = user.last,
            challenge.previousFailureCount < 2
        else {
            return completionHandler(.performDefaultHandling, nil)
        }
        let credential = URLCredential(user: name, password: password, persistence: .forSession)
        teller.tell(credential)
        completionHandler(.useCredential, credential)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        teller.tell(metrics)
        for transaction in metrics.transactionMetrics {
            teller.tell(transaction)
            print(transaction.request)
            if let response = transaction.response { teller.tell(response) }
        }
        print(task, task.currentRequest.map { "\($0)" } ?? "", task.error?.localizedDescription ?? "")
    }
}
