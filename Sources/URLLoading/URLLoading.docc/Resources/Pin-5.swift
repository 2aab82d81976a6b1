// Loads a page from a server whose keys are known beforehand: pinned URL PIN RESERVE

import Foundation
import URLLoading

/// Looks at the keys with which a server is met.
final class KeyWatch: NSObject, URLSessionDelegate {
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        if let trust = challenge.protectionSpace.serverTrust, SecTrustEvaluateWithError(trust, nil),
            let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate]
        {
            for certificate in chain { print("in the path: \(certificate.publicKeyPin)") }
        }
        return (.performDefaultHandling, nil)
    }
}

/// Whether a server was refused because none of its keys is a pinned one.
func isPinMismatch(_ error: URLError) -> Bool {
    let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError
    return error.code == .serverCertificateUntrusted
        && cause?.domain == URLLoadingErrorDomain.trust
        && cause?.code == URLLoadingErrorDomain.TrustCode.pinMismatch.rawValue
}

guard CommandLine.arguments.count == 4, let url = URL(string: CommandLine.arguments[1]),
    let host = url.host()
else {
    print("usage: pinned URL PIN RESERVE")
    exit(64)
}
let (current, reserve) = (CommandLine.arguments[2], CommandLine.arguments[3])

let configuration = URLSessionConfiguration.default
configuration.serverTrustEvaluation = .perHost(
    [host: .pinnedKeys([current, reserve])], otherwise: .system)
if let problem = configuration.serverTrustEvaluation.problem {
    print(problem)
    exit(64)
}

let session = URLSession(configuration: configuration, delegate: KeyWatch(), delegateQueue: nil)
do {
    let (data, _) = try await session.data(from: url)
    print("\(data.count) bytes from \(host)")
} catch let error as URLError {
    print("\(error.code.rawValue): \(error.localizedDescription)")
    exit(isPinMismatch(error) ? 2 : 1)
}
