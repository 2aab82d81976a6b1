// A server's or proxy's demand for proof, with what is known about it (B2.13).
//
// Must not know: how the answer travels; that is the sender's or the completion handler's.

import Foundation

/// The question for a credential, or for the trust in a server.
open class URLAuthenticationChallenge: NSObject, NSSecureCoding, @unchecked Sendable {
    // Safe to share: every stored property is immutable and Sendable.
    private let givenSpace: URLProtectionSpace
    private let givenCredential: URLCredential?
    private let givenCount: Int
    private let givenResponse: URLResponse?
    private let givenError: (any Error)?
    private let givenSender: (any URLAuthenticationChallengeSender)?

    /// Makes a challenge of its parts.
    public init(
        protectionSpace space: URLProtectionSpace, proposedCredential credential: URLCredential?,
        previousFailureCount: Int, failureResponse response: URLResponse?, error: (any Error)?,
        sender: any URLAuthenticationChallengeSender
    ) {
        givenSpace = space
        givenCredential = credential
        givenCount = previousFailureCount
        givenResponse = response
        givenError = error
        givenSender = sender
        super.init()
    }

    /// Makes the same challenge for another sender.
    public init(
        authenticationChallenge challenge: URLAuthenticationChallenge, sender: any URLAuthenticationChallengeSender
    ) {
        givenSpace = challenge.protectionSpace
        givenCredential = challenge.proposedCredential
        givenCount = challenge.previousFailureCount
        givenResponse = challenge.failureResponse
        givenError = challenge.error
        givenSender = sender
        super.init()
    }

    /// Reads a challenge from a keyed archive; it has no sender. Nil where it has no space.
    public required init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding,
            let space = coder.decodeObject(of: URLProtectionSpace.self, forKey: Key.space)
        else { return nil }
        givenSpace = space
        givenCredential = coder.decodeObject(of: URLCredential.self, forKey: Key.credential)
        givenCount = coder.decodeInteger(forKey: Key.count)
        givenResponse = coder.decodeObject(of: URLResponse.self, forKey: Key.response)
        givenError = coder.decodeObject(of: NSString.self, forKey: Key.errorDomain).map {
            NSError(domain: $0 as String, code: coder.decodeInteger(forKey: Key.errorCode))
        }
        givenSender = nil
        super.init()
    }

    /// Writes the challenge to a keyed archive: of the error domain and code, of the credential what
    /// `URLCredential` writes of itself, and not the sender.
    open func encode(with coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return }
        coder.encode(protectionSpace, forKey: Key.space)
        coder.encode(proposedCredential, forKey: Key.credential)
        coder.encode(previousFailureCount, forKey: Key.count)
        coder.encode(failureResponse, forKey: Key.response)
        if let error = error.map({ $0 as NSError }) {
            coder.encode(error.domain as NSString, forKey: Key.errorDomain)
            coder.encode(error.code, forKey: Key.errorCode)
        }
    }

    /// Challenges can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Which server or proxy asks, and how to authenticate.
    open var protectionSpace: URLProtectionSpace { givenSpace }

    /// What default handling would use, or what was just refused (B2.14, B2.15).
    open var proposedCredential: URLCredential? { givenCredential }

    /// How many answers the server has refused so far (B2.16).
    open var previousFailureCount: Int { givenCount }

    /// The answer that refused, where a protocol refuses by an answer (B2.18).
    open var failureResponse: URLResponse? { givenResponse }

    /// The error that refused, where a protocol refuses by an error (B2.18).
    open var error: (any Error)? { givenError }

    /// Takes the answer in older code; a session's delegate uses its completion handler (B2.20).
    open var sender: (any URLAuthenticationChallengeSender)? { givenSender }

    private enum Key {
        static let space = "protectionSpace"
        static let credential = "proposedCredential"
        static let count = "previousFailureCount"
        static let response = "failureResponse"
        static let errorDomain = "errorDomain"
        static let errorCode = "errorCode"
    }
}
