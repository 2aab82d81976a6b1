// What a SOCKS proxy can say instead of yes. RFC 1928 §3 and §6, RFC 1929 §2, the SOCKS4 protocol; B13.22 to B13.25.

/// Why a SOCKS proxy opened no tunnel.
package enum SOCKSFailure: Error, Sendable, Hashable {
    /// SOCKS4: rejected or failed (91), or a code without a meaning.
    case rejected(code: UInt8)
    /// SOCKS4: the proxy cannot reach this machine's identd (92).
    case identUnreachable
    /// SOCKS4: identd knows another user (93).
    case identMismatch
    /// SOCKS5: a reply other than 0: 1 general, 2 not allowed, 3 network unreachable, 4 host unreachable, 5 refused,
    /// 6 time to live, 7 command, 8 address type.
    case reply(UInt8)
    /// SOCKS5: none of the methods offered is accepted.
    case noAcceptableMethod
    /// SOCKS5: user name or password is wrong.
    case badCredentials
    /// User name or password cannot be sent: RFC 1929 allows 1 to 255 bytes each, SOCKS4 a user name without NUL.
    case unsendableCredentials
    /// The target cannot be expressed: an IPv6 address for SOCKS4, or a name of more than 255 bytes.
    case unsendableTarget
    /// The proxy speaks something else.
    case malformed

    /// Whether other credentials may help.
    package var isAboutCredentials: Bool {
        switch self {
        case .noAcceptableMethod, .badCredentials, .unsendableCredentials: true
        case .rejected, .identUnreachable, .identMismatch, .reply, .unsendableTarget, .malformed: false
        }
    }

    /// Whether another address of the same host may be reached.
    package var isAboutAddress: Bool {
        switch self {
        case .rejected, .reply(1), .reply(3), .reply(4), .reply(5), .reply(6), .reply(8), .unsendableTarget: true
        case .identUnreachable, .identMismatch, .reply, .noAcceptableMethod, .badCredentials, .unsendableCredentials,
            .malformed:
            false
        }
    }
}

extension SOCKSFailure: CustomStringConvertible {
    /// One sentence for a person.
    package var description: String {
        switch self {
        case .rejected(let code): "it rejected the connection or failed to make it (code \(code))."
        case .identUnreachable: "it cannot reach identd on this machine."
        case .identMismatch: "identd on this machine reports another user."
        case .reply(let code): Self.sentence(code)
        case .noAcceptableMethod: "it accepts no way of authentication that was offered."
        case .badCredentials: "it does not accept the user name and password."
        case .unsendableCredentials: "the user name or password cannot be sent to it."
        case .unsendableTarget: "it cannot be told this address."
        case .malformed: "its answer is none in this version of SOCKS."
        }
    }

    /// RFC 1928 §6.
    private static func sentence(_ reply: UInt8) -> String {
        switch reply {
        case 1: "it failed for a reason that it does not tell."
        case 2: "its rules do not allow the connection."
        case 3: "the network is unreachable from there."
        case 4: "the host is unreachable from there."
        case 5: "the host refused the connection."
        case 6: "the time to live expired on the way to the host."
        case 7: "it does not know the command."
        case 8: "it does not support this type of address."
        default: "it answered with the unknown code \(reply)."
        }
    }
}
