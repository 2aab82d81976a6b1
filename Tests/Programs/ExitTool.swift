// A program that uses OpenSSL through the library and ends; whether OpenSSL then frees what it has can only be seen at
// the end of a process.
//
//     exit hash|certificate|load

import CURLLoadingOpenSSL
import Foundation
import URLLoading
import URLLoadingSystem
import URLLoadingTrust

/// Ends after a first use of OpenSSL, and says so where OpenSSL is cleaned up.
enum ExitTool {
    static func run(_ words: [String]) async {
        switch words.first {
        case "hash": print(SecureHash.sha256.hash([1, 2, 3]) == nil ? "no hash" : "hashed")
        case "certificate": print((try? Certificate.parse(pem: "none")) == nil ? "no certificate" : "a certificate")
        case "load":
            // Nothing listens there.
            if let url = URL(string: "https://127.0.0.1:1/") { _ = try? await URLSession.shared.data(from: url) }
            print("loaded")
        default: print("what?")
        }
        // The usual beginning of OpenSSL, which has a clean-up follow, if nothing was said about it before.
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_LOAD_CRYPTO_STRINGS), nil)
        // Called by OpenSSL when it cleans up.
        OPENSSL_atexit { print("cleaned up") }
    }
}
