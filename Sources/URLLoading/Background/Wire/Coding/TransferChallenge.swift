// A challenge, on its way between the process that loads and the program that answers (B10.20, B10.37). Values as
// they travel; what they mean is the business of authentication.

import URLLoadingPolicy

/// What is asked.
package struct TransferChallenge: Sendable, Hashable {
    /// Which question it is; an answer names it, and one to another question counts for nothing.
    package var number: UInt64
    /// Which server or proxy asks, and for what.
    package var space: TransferSpace
    /// How many answers have failed before.
    package var failures: UInt32
    /// The response that asks, where there is one.
    package var head: TransferHead?
    /// The certificates a server has shown, DER, its own first; of server trust only.
    package var certificates: [[UInt8]]
    /// What a server has said about the revocation of its certificate; of server trust only.
    package var stapling = TransferStapling.unknown
    /// Whether the owner takes a password for one task; not about servers. One of before took each for
    /// all tasks of its session.
    package var takesOnce = false
    /// Whether the server that asks for a password is behind a UNIX-domain socket.
    package var isBehindSocket = false

    /// Makes a question.
    package init(
        number: UInt64, space: TransferSpace, failures: UInt32, head: TransferHead?, certificates: [[UInt8]] = []
    ) {
        self.number = number
        self.space = space
        self.failures = failures
        self.head = head
        self.certificates = certificates
    }
}

/// What a server says about the revocation of its certificate.
package enum TransferStapling: Sendable, Hashable {
    /// It was not asked, or its answer is not known.
    case unknown
    /// It was asked and sent nothing.
    case absent
    /// It sent this OCSP response, encoded.
    case response([UInt8])
}

/// The protection space, in Apple's texts.
package struct TransferSpace: Sendable, Hashable {
    /// The host.
    package var host: String
    /// The port.
    package var port: Int64
    /// `protocol`, such as "https".
    package var scheme: String?
    /// The realm.
    package var realm: String?
    /// `authenticationMethod`.
    package var method: String
    /// `proxyType`, of proxies only.
    package var proxyType: String?
    /// Whether it is a proxy that asks.
    package var isProxy: Bool
    /// Which issuers a server accepts, DER; of client certificates only.
    package var distinguishedNames: [[UInt8]] = []

    /// Whether a server's certificate is in question.
    var isAboutServer: Bool { method == "NSURLAuthenticationMethodServerTrust" }

    /// Whether a certificate of the client is.
    var isAboutClient: Bool { method == "NSURLAuthenticationMethodClientCertificate" }

    /// Whether a name and a password answer it.
    var takesPassword: Bool { !isAboutServer && !isAboutClient && method != "NSURLAuthenticationMethodNegotiate" }

    /// Makes a space.
    package init(
        host: String, port: Int64, scheme: String?, realm: String?, method: String, isProxy: Bool, proxyType: String?
    ) {
        self.host = host
        self.port = port
        self.scheme = scheme
        self.realm = realm
        self.method = method
        self.isProxy = isProxy
        self.proxyType = proxyType
    }
}

/// What the program says to a question.
package struct TransferAnswer: Sendable, Hashable {
    /// The task it is about.
    package var task: UInt64
    /// The question it is to.
    package var challenge: UInt64
    /// What is to be done.
    package var disposition: Disposition
    /// With what; for `useCredential`.
    package var credential: TransferCredential?

    /// Apple's four, in their order.
    package enum Disposition: UInt8, Sendable, Hashable {
        /// Go on with the credential, or without any.
        case useCredential
        /// As if there were no delegate.
        case performDefaultHandling
        /// End the task.
        case cancel
        /// Try the next of what the server offers.
        case reject
    }

    /// Makes an answer.
    package init(task: UInt64, challenge: UInt64, disposition: Disposition, credential: TransferCredential? = nil) {
        self.task = task
        self.challenge = challenge
        self.disposition = disposition
        self.credential = credential
    }
}

/// A proof for the server, or the word that the server is believed.
package enum TransferCredential: Sendable, Hashable, Concealed {
    /// A user and a password.
    case password(user: String, password: String)
    /// A user and a password for this one task (B2.53), where the question says that the owner takes that.
    case passwordOnce(user: String, password: String)
    /// The server is believed.
    case trust
    /// Certificates, the client's own first, and the key that belongs to it, both as PEM.
    case identity(certificates: String, key: String)
}
