// The system's GSSAPI library, loaded when it is first needed (RFC 2744; behaviour B2.95). It must not know HTTP, which
// tickets there are, and what a token looks like.
//
// It is here, above Sockets, because its calls block for as long as a ticket server or a name server likes and belong
// on the BlockingPool; and not below, because nothing else loads libraries.

import CURLLoadingGSSAPI

/// Why Kerberos has no answer.
package enum NegotiateFailure: Error, Sendable, Equatable {
    /// The library is not installed; what the loader says.
    case notInstalled(String)
    /// What the library says: no ticket, no such service, a server that cannot prove its name.
    case refused(String)
    /// The server's part is not base64.
    case malformedChallenge
    /// The library has not answered within this time.
    case noAnswer(Duration)
}

extension NegotiateFailure: CustomStringConvertible {
    /// One sentence for a person.
    package var description: String {
        switch self {
        case .notInstalled(let reason):
            "Negotiate needs the system's GSSAPI library (Debian, Ubuntu: libgssapi-krb5-2): \(reason)"
        case .refused(let reason): "GSSAPI gives no token: \(reason)"
        case .malformedChallenge: "The server's Negotiate token is not base64."
        case .noAnswer(let time):
            "GSSAPI has given no token within \(time): a ticket server, or the ticket cache, does not answer."
        }
    }
}

/// The system's GSSAPI library.
package struct NegotiateLibrary: Sendable {
    /// MIT's, as distributions install it.
    package static let systemName = "libgssapi_krb5.so.2"

    /// The library of this process: loaded once, and never unloaded.
    package static let system = Result { () throws(NegotiateFailure) in
        try NegotiateLibrary(NegotiateLibrary.systemName)
    }

    let handle: UInt

    /// Loads a library.
    package init(_ name: String) throws(NegotiateFailure) {
        handle = urlloading_gss_open(name)
        guard handle != 0 else {
            throw .notInstalled(urlloading_gss_open_error().map { String(cString: $0) } ?? "it cannot be loaded")
        }
    }

    /// What the library says about a failed call.
    func failure(_ major: UInt32, _ minor: UInt32) -> NegotiateFailure {
        let lines = lines(major, kind: 1) + lines(minor, kind: 2)
        return .refused(lines.isEmpty ? "status \(major), \(minor)" : lines.joined(separator: "; "))
    }

    /// At most a few lines: the library says itself whether there are more.
    private func lines(_ status: UInt32, kind: Int32) -> [String] {
        var lines: [String] = []
        var more: UInt32 = 0
        repeat {
            var text = urlloading_gss_buffer()
            let major = urlloading_gss_display(handle, status, kind, &more, &text)
            defer { urlloading_gss_release_buffer(handle, &text) }
            guard major == 0 else { break }
            lines.append(String(decoding: bytes(of: text), as: UTF8.self))
        } while more != 0 && lines.count < 4
        return lines
    }

    /// What lies in one of the library's buffers.
    func bytes(of buffer: urlloading_gss_buffer) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: buffer.value, count: buffer.value == nil ? 0 : buffer.length))
    }
}
