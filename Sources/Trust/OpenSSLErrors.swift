// Reads OpenSSL's per-thread error queue into text. Does not know which call failed.

import CURLLoadingOpenSSL

/// OpenSSL's queue of errors for the calling thread.
package enum OpenSSLErrors {
    /// Empties the queue, before a piece of work or after one that has failed; costs one look when it is empty already.
    package static func clear() {
        OpenSSLLibrary.prepare()
        if ERR_peek_error() != 0 { ERR_clear_error() }
    }

    /// The first error's text, with which the queue is emptied.
    package static func takeText() -> String {
        let code = ERR_peek_error()
        defer { ERR_clear_error() }
        return code == 0 ? "no reason given" : text(of: code)
    }

    /// What OpenSSL calls this error.
    package static func text(of code: UInt) -> String {
        if let reason = ERR_reason_error_string(code) { return String(cString: reason) }
        return "error \(String(code, radix: 16))"
    }
}
