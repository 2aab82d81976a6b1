// The value of `credentials`: which entry answers which challenge. Each entry answers once in a transfer, so that a
// wrong one cannot be given for ever. Driver protocol, section 3.

import Foundation
import URLLoading
import URLLoadingTestSupport

/// An entry of the list.
struct CredentialPlan: Sendable {
    private enum Scheme {
        case any
        case method(String)
    }

    private let host: String?
    private let port: Int64?
    private let realm: String?
    private let isForProxy: Bool
    private let scheme: Scheme
    private let user: String
    private let password: String

    /// Reads the value of `credentials`.
    static func list(_ elements: [JSONValue]?) throws(Refusal) -> [CredentialPlan] {
        var list: [CredentialPlan] = []
        for element in elements ?? [] { list.append(try CredentialPlan(Members(element, of: "credentials"))) }
        return list
    }

    private init(_ members: consuming Members) throws(Refusal) {
        var members = members
        host = try members.string("host")
        port = try members.integer("port")
        realm = try members.string("realm")
        isForProxy = try members.bool("proxy") ?? false
        user = try members.requiredString("user")
        password = try members.requiredString("password")
        scheme = try members.word("scheme", Self.schemes) ?? .any
        try members.finish()
        // The package takes the user's ticket and asks no delegate.
        if case .method(NSURLAuthenticationMethodNegotiate) = scheme {
            throw .unsupported("credentials: scheme negotiate")
        }
    }

    /// Whether all that the entry says is so of a space.
    func fits(_ space: URLProtectionSpace) -> Bool {
        if let host, host.lowercased() != space.host.lowercased() { return false }
        if let port, port != space.port { return false }
        if let realm, realm != space.realm { return false }
        if case .method(let method) = scheme, method != space.authenticationMethod { return false }
        return isForProxy == space.isProxy()
    }

    /// The credential, which the session may send ahead when it was accepted.
    var credential: URLCredential { URLCredential(user: user, password: password, persistence: .forSession) }

    private static let schemes: [String: Scheme] = [
        "any": .any, "basic": .method(NSURLAuthenticationMethodHTTPBasic),
        "digest": .method(NSURLAuthenticationMethodHTTPDigest), "ntlm": .method(NSURLAuthenticationMethodNTLM),
        "negotiate": .method(NSURLAuthenticationMethodNegotiate),
    ]
}
