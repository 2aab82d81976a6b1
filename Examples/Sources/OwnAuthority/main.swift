// A server below an authority of one's own: OwnAuthority https://127.0.0.1:40124/ AUTHORITY.pem

import Foundation
import URLLoading

guard CommandLine.arguments.count == 3, let site = URL(string: CommandLine.arguments[1]), let host = site.host() else {
    print("usage: OwnAuthority URL AUTHORITY.pem")
    exit(64)
}
let authority = try String(contentsOfFile: CommandLine.arguments[2], encoding: .utf8)

// Without it the server is refused before a byte of the request is sent.
do {
    _ = try await URLSession.shared.data(from: site)
    print("trusted without the authority?")
    exit(1)
} catch let error as URLError where error.code == .serverCertificateUntrusted {
    print("refused without the authority: \(error.localizedDescription)")
}

// For this host alone: all others are judged by the system's roots.
let configuration = URLSessionConfiguration.default
configuration.serverTrustEvaluation = .perHost([host: .anchors(pem: authority)], otherwise: .system)
let (data, _) = try await URLSession(configuration: configuration).data(from: site)
print("trusted with it: \(String(decoding: data, as: UTF8.self))", terminator: "")
