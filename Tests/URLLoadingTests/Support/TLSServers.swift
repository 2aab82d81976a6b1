// Servers whose certificates the tests of trust and identities judge, and what became of a load from one.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTrust

/// How a load ended.
struct LoadEnd {
    let text: String?
    let error: URLError?

    /// Loads with a session of this configuration, in which `localhost` is this machine.
    init(
        _ url: URL, _ configuration: URLSessionConfiguration = .ephemeral, delegate: (any URLSessionDelegate)? = nil
    ) async {
        configuration.hostOverrides = ["localhost": "127.0.0.1", "other.test": "127.0.0.1"]
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        do {
            text = String(decoding: try await session.data(from: url).0, as: UTF8.self)
            error = nil
        } catch {
            text = nil
            self.error = error as? URLError
        }
    }

    /// Loads a URL of a server that this evaluation judges.
    init(_ url: URL, judgedBy evaluation: URLSessionConfiguration.ServerTrustEvaluation) async {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.serverTrustEvaluation = evaluation
        await self.init(url, configuration)
    }

    var isWhole: Bool { text == "secret" }

    /// Whether the server was refused, with an error whose text has these words.
    func isRefused(_ words: String = "") -> Bool {
        error?.code == .serverCertificateUntrusted
            && (words.isEmpty || error?.localizedDescription.contains(words) == true)
    }
}

/// Accepts every server.
final class Vouching: NSObject, URLSessionDelegate {
    let asked = Signal()

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        asked.fire()
        completionHandler(.useCredential, challenge.protectionSpace.serverTrust.map(URLCredential.init(trust:)))
    }
}

extension Certificate {
    /// The pin of the certificate's key.
    var pin: String { Data(spkiSHA256).base64EncodedString() }
}
