// One request of a program that has a Kerberos ticket and no delegate: a program of its own, because the ticket is named
// by the environment, which a process that runs other tests must not change.
//
//     kerberos-client URL [body]
//
// It prints the status and then the answer's body; with a body it sends a POST.

import Foundation
import URLLoading

@main
enum KerberosClient {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard let url = arguments.first.flatMap(URL.init(string:)) else { return print("which URL?") }
        var request = URLRequest(url: url)
        if let body = arguments.dropFirst().first {
            request.httpMethod = "POST"
            request.httpBody = Data(body.utf8)
        }
        let session = URLSession(configuration: .ephemeral)
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
