// One request of a program whose user may have a Kerberos ticket: a program of its own, because the ticket is named by
// the environment, which a process that runs other tests must not change.
//
//     kerberos named|given|kept URL [body]
//
// "named" names the URL's host in the configuration, "given" has a delegate that gives the ticket, and "kept" one
// that leaves all to default handling. It prints what the delegate was asked, the status, and then the answer's body;
// with a body it sends a POST.

import Foundation
import URLLoading

/// Makes one request, perhaps with a ticket.
enum KerberosClient {
    static func run(_ arguments: [String]) async {
        guard let manner = arguments.first, let url = arguments.dropFirst().first.flatMap(URL.init(string:)) else {
            return print("how, and which URL?")
        }
        var request = URLRequest(url: url)
        if let body = arguments.dropFirst(2).first {
            request.httpMethod = "POST"
            request.httpBody = Data(body.utf8)
        }
        let configuration = URLSessionConfiguration.ephemeral
        if manner == "named", let host = url.host() { configuration.negotiateHosts = [host] }
        let session = URLSession(
            configuration: configuration, delegate: Holder(gives: manner == "given"), delegateQueue: nil)
        do {
            let (data, response) = try await session.data(for: request)
            print("\((response as? HTTPURLResponse)?.statusCode ?? 0)")
            print(String(decoding: data, as: UTF8.self), terminator: "")
        } catch {
            print("\(error)")
        }
        session.invalidateAndCancel()
    }
}

/// Has the ticket, and prints the method of each challenge.
final class Holder: NSObject, URLSessionDelegate {
    private let gives: Bool

    init(gives: Bool) { self.gives = gives }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        print(challenge.protectionSpace.authenticationMethod)
        return gives ? (.useCredential, .kerberosTicket) : (.performDefaultHandling, nil)
    }
}
