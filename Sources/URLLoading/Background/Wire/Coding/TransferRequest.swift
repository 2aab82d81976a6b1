// A request of a background session as it is kept in a journal and sent between processes. It must not know
// `URLRequest`, nor what any of it means.

import URLLoadingPolicy

/// What is asked for.
package struct TransferRequest: Sendable, Hashable {
    /// The method, such as "GET".
    package var method: String
    /// The URL as text.
    package var url: String
    /// The fields that the program set, cookies it wants to be sent among them: the owner has no cookie storage.
    package var fields: [TransferField]
    /// The body of a request that is no upload; not longer than `TransferLimits.body`.
    package var body: [UInt8]?
    /// The time-out in milliseconds, where the program has set one (B6.3).
    package var timeout: Int64?
    /// The number of the cache policy.
    package var cachePolicy: UInt32 = 0
    /// What is true or false of a request, a bit for each; the code that makes requests knows which.
    package var flags: UInt32 = 0
    /// The path of the UNIX-domain socket to be used, if any.
    package var unixSocketPath: String?
    /// The document this belongs to.
    package var mainDocumentURL: String?
    /// The most bytes that a coded body may become, where the program has said so.
    package var maximumDecodedBytes: Int64?
    /// The most bytes that each byte of a coded body may become, where the program has said so.
    package var maximumDecodedRatio: Int64?

    /// Whether the program has said anything of what a coded body may become.
    package var limitsDecoding: Bool { maximumDecodedBytes != nil || maximumDecodedRatio != nil }

    /// A bit of the flags: the program's storage has a part in the cookies, so that each redirect is
    /// asked about anew (B8.58).
    package static let followsCookies: UInt32 = 1 << 30
    /// A bit of the flags: the cookies in the fields are the storage's, and go with every path of the host.
    package static let cookiesFitEverywhere: UInt32 = 1 << 29
    /// A bit of the flags: no cookies of redirects are taken (B8.39).
    package static let takesNoCookies: UInt32 = 1 << 28
    /// A bit of the flags: of redirects' cookies only those of the main document's domain are taken (B8.40).
    package static let takesFirstPartyCookies: UInt32 = 1 << 27
    /// A bit of the flags: the download or upload began with a part that the program has resume data of, which it may
    /// use once more (B9.31).
    package static let beginsWithPart: UInt32 = 1 << 26

    /// Makes a request of its chief parts.
    package init(
        method: String = "GET", url: String, fields: [TransferField] = [], body: [UInt8]? = nil, timeout: Int64? = nil
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.timeout = timeout
    }
}

/// A name and a value.
package struct TransferField: Sendable, Hashable, Concealed {
    /// The name.
    package var name: String
    /// The value, which may be a secret.
    package var value: String

    /// Makes a field.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// What is known of a response besides its body.
package struct TransferHead: Sendable, Hashable {
    /// The URL it is of.
    package var url: String
    /// The status; 0 for what is not HTTP.
    package var status: UInt16
    /// The fields, in order.
    package var fields: [TransferField]
    /// The announced length of the body, −1 where it is not known.
    package var expectedLength: Int64
    /// Both digits of the version: 10, 11, 20.
    package var version: UInt8 = 11
    /// The server's words, where they are not the usual ones for the status.
    package var reason: String?
    /// The fields behind the body, in order; of the head of an exchange that is over.
    package var trailers: [TransferField] = []

    /// Whether it has a part that the first form in bytes did not know.
    var isExtended: Bool { version != 11 || reason != nil || !trailers.isEmpty }

    /// Makes a head.
    package init(url: String, status: UInt16, fields: [TransferField], expectedLength: Int64) {
        self.url = url
        self.status = status
        self.fields = fields
        self.expectedLength = expectedLength
    }
}

extension TransferHead {
    /// Whether it is the same response, however its length was reckoned.
    func isSame(as other: TransferHead) -> Bool {
        url == other.url && status == other.status && fields == other.fields
    }
}

/// How far a transfer has come; lengths that are not known are −1.
package struct TransferCounts: Sendable, Hashable {
    /// Bytes of the response's body that are in the file.
    package var received: Int64 = 0
    /// How many there will be.
    package var expectedToReceive: Int64 = -1
    /// Bytes of the request's body that were sent.
    package var sent: Int64 = 0
    /// How many there are.
    package var expectedToSend: Int64 = 0

    /// Nothing yet.
    package init() {}
}

/// Why a transfer failed, in the words of `NSError`.
package struct TransferFailure: Sendable, Hashable {
    /// The domain, mostly `NSURLErrorDomain`.
    package var domain: String
    /// The code.
    package var code: Int64
    /// The sentence for people.
    package var text: String
    /// The URL that failed.
    package var url: String?
    /// The value under `NSURLErrorBackgroundTaskCancelledReasonKey` (B10.23).
    package var cancellationReason: Int64?
    /// The value under `NSURLErrorNetworkUnavailableReasonKey`.
    package var networkReason: Int64?
    /// With what the program can go on itself: the key is that of the task's kind.
    package var resumeData: [UInt8]?
    /// What was underneath, outermost first.
    package var causes: [Cause] = []

    /// An error underneath.
    package struct Cause: Sendable, Hashable {
        /// The domain.
        package var domain: String
        /// The code.
        package var code: Int64
        /// The sentence for people.
        package var text: String

        /// Makes a cause.
        package init(domain: String, code: Int64, text: String) {
            self.domain = domain
            self.code = code
            self.text = text
        }
    }

    /// Makes a failure.
    package init(domain: String = "NSURLErrorDomain", code: Int64, text: String, url: String? = nil) {
        self.domain = domain
        self.code = code
        self.text = text
        self.url = url
    }
}
