// What a command line asks for. A value; knows neither how it was spelled nor what comes of it.

import Foundation
import URLLoading

/// The parsed command line.
package struct Options: Sendable {
    /// Where to, in the order given.
    package var urls: [URL] = []

    // The request.
    package var method: String?
    package var fields: [HeaderField] = []
    package var body = RequestBody.none
    /// Whether the body of a form becomes a part of the URL.
    package var putsDataInQuery = false
    /// The Range field's value, without its unit.
    package var range: String?
    package var acceptsCompression = false
    package var login: Login?
    /// Where logins are looked up by host.
    package var netrc: NetrcPlace?
    /// What stood there, once it was read.
    package var logins: Netrc?
    /// Whether the user's Kerberos ticket is shown to who asks for it.
    package var usesTicket = false
    package var cookies: CookieSource?
    package var cookieJar: String?

    // The way.
    package var followsRedirects = true
    package var maximumRedirects: Int?
    package var hostOverrides: [String: String] = [:]
    package var proxy: Proxy?
    package var proxyLogin: Login?
    /// Hosts that are reached without a proxy, in the form of `no_proxy`.
    package var proxyExceptions: String?
    package var socketPath: String?
    package var localAddress: String?
    package var interface: String?
    package var maximumTime: Double?
    package var idleTime: Double?
    /// How long a web socket is quiet before goodbye is said, once nothing is left to send.
    package var patience: Double?
    package var retries = 0
    package var retryDelay: Double?
    package var usesCache = false
    /// When HTTP/2 is spoken; nil where nothing is said about it.
    package var http2: URLSessionConfiguration.HTTP2Use?

    // Whom to trust, and who we are.
    package var anchorFile: String?
    package var acceptsAnyCertificate = false
    package var pins: [String] = []
    package var certificateFile: String?
    package var keyFile: String?
    package var passphrase: String?

    // What becomes of the answer.
    package var outputs: [String] = []
    package var usesRemoteNames = false
    package var believesServersNames = false
    package var resumption: Resumption?
    package var showsHead = false
    package var failsOnErrorStatus = false
    package var parallel: Int?

    // What is told about it.
    package var isVerbose = false
    package var isSilent = false
    package var showsErrors = false
    package var showsTiming = false
    package var harFile: String?
    package var keepsSecretsInHAR = false
    package var writeOut: WriteOutFormat?

    /// Whether a request has content.
    package var sendsBody: Bool { body != .none && !putsDataInQuery }

    /// Whether complaints are written.
    package var complains: Bool { !isSilent || showsErrors }
}

/// A field of a request.
package struct HeaderField: Sendable, Equatable {
    /// As it was written.
    package var name: String
    /// Without white space around it.
    package var value: String

    /// A field as it is.
    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// The body of a request.
package enum RequestBody: Sendable, Equatable {
    case none
    /// Pieces joined by `&`, sent as a form unless a field says otherwise.
    case form([BodyPiece])
    /// Pieces one after the other, sent as JSON.
    case json([BodyPiece])
    /// Parts of a multipart form.
    case multipart([FormPart])
    /// A file, or standard input for `-`, sent as it is.
    case upload(String)
}

/// One option's part of a body.
package enum BodyPiece: Sendable, Equatable {
    case text(String)
    /// A file, or standard input for `-`; without its line ends unless they are kept.
    case file(String, keepsLines: Bool)
}

/// A user, and a password unless it has to be asked for. Prints neither.
package struct Login: Sendable, Equatable, CustomStringConvertible {
    /// The user.
    package var name: String
    /// Nil where it has to be asked for.
    package var password: String?

    /// A login as it is.
    package init(name: String, password: String?) {
        self.name = name
        self.password = password
    }

    /// Nothing of what it holds.
    package var description: String { "a login" }
}

/// Which file of logins is read.
package enum NetrcPlace: Sendable, Equatable {
    /// `.netrc` in the user's home.
    case home
    case file(String)
}

/// Which cookies are sent.
package enum CookieSource: Sendable, Equatable {
    /// The value of a Cookie field.
    case literal(String)
    /// A file in Netscape's form.
    case file(String)
}

/// Where a download goes on.
package enum Resumption: Sendable, Equatable {
    /// Behind what an earlier run has left, if it is still the same resource.
    case kept
    /// At this byte of the file, by the word of the user.
    case at(Int64)
}

extension Options {
    /// What `--proxy` says.
    package enum Proxy: Sendable {
        /// An empty text: no proxy, whatever the environment says.
        case direct
        case server(ProxyConfiguration)
    }
}
