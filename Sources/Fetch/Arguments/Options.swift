// What one group of a command line asks for. A value; knows neither how it was spelled nor what comes of it.

import Foundation
import URLLoading

/// The parsed options of one or more URLs.
package struct Options: Sendable {
    /// What was typed in place of URLs, in the order given.
    package var operands: [String] = []
    /// Where to, and into which files: what the operands come to.
    package var targets: [Target] = []
    /// Whether braces and brackets in URLs stand for themselves.
    package var takesURLsLiterally = false
    /// The scheme of URLs that have none.
    package var usualScheme: String?

    // The request.
    package var method: String?
    package var fields: [HeaderField] = []
    package var body = RequestBody.none
    /// Whether the body of a form becomes a part of the URL.
    package var putsDataInQuery = false
    /// What the URLs' queries get besides.
    package var query: [BodyPiece] = []
    /// The Range field's value, without its unit.
    package var range: String?
    package var acceptsCompression = false
    package var condition: TimeCondition?
    /// The file of the entity tag that the answer must differ from.
    package var comparedTag: String?
    /// The file that gets the answer's entity tag.
    package var savedTag: String?

    // What proves the user to servers.
    package var login: Login?
    /// The ways in which the password may be shown; nil for any that a server asks for.
    package var loginMethod: LoginMethod?
    package var bearerToken: String?
    /// Where logins are looked up by host.
    package var netrc: NetrcPlace?
    /// What stood there, once it was read.
    package var logins: Netrc?
    /// Whether the user's Kerberos ticket is shown to a server that asks for it.
    package var usesTicket = false
    /// What makes the Cookie field.
    package var cookieTexts: [String] = []
    /// Files of cookies in Netscape's form.
    package var cookieFiles: [String] = []
    /// Whether cookies of a file that are good for a session only are left out.
    package var dropsSessionCookies = false
    package var cookieJar: String?

    // The way.
    package var followsRedirects = true
    package var maximumRedirects: Int?
    /// The schemes that may be used; nil for all.
    package var schemes: SchemeSet?
    /// The schemes that redirects may lead to; nil for what the library follows.
    package var redirectSchemes: SchemeSet?
    package var addressFamily: AddressFamily?
    package var hostOverrides: [String: String] = [:]
    /// Where other hosts and ports stand in for those of the URL, in the form of `hostOverrides`;
    /// these count before them.
    package var standIns: [String: String] = [:]
    package var proxy: Proxy?
    package var proxyLogin: Login?
    /// Hosts that are reached without a proxy, in the form of `no_proxy`.
    package var proxyExceptions: String?
    package var socketPath: String?
    package var localAddress: String?
    package var interface: String?
    package var maximumTime: Double?
    package var connectionTime: Double?
    package var idleTime: Double?
    package var probeInterval: Double?
    /// How long a web socket is quiet before goodbye is said, once nothing is left to send.
    package var patience: Double?
    package var retries = 0
    package var retryDelay: Double?
    /// After so many seconds no further attempt begins.
    package var retryTime: Double?
    package var retriesAllErrors = false
    package var usesCache = false
    /// When HTTP/2 is spoken; nil where nothing is said about it.
    package var http2: URLSessionConfiguration.HTTP2Use?

    // Which servers to trust, and which certificate to show them.
    package var anchorFile: String?
    package var anchorFolder: String?
    package var acceptsAnyCertificate = false
    package var pins: [String] = []
    package var certificateFile: String?
    package var keyFile: String?
    package var passphrase: String?
    package var lowestTLS: TLSVersion?
    package var highestTLS: TLSVersion?
    package var logsKeys = false

    // What becomes of the answer.
    package var outputs: [OutputChoice] = []
    package var outputFolder: String?
    package var makesFolders = false
    package var keepsOldFiles = false
    package var believesServersNames = false
    package var resumption: Resumption?
    package var showsHead = false
    /// The file that gets the heads.
    package var headFile: String?
    package var failsOnErrorStatus = false
    /// Whether a bad status is a failure though its body is kept.
    package var failsWithBody = false
    package var stopsAtFirstFailure = false
    package var keepsTime = false
    package var largestFile: Int64?
    /// Bytes a second.
    package var rateLimit: Int64?
    package var isParallel = false
    package var parallel: Int?

    // Requests that are made for a report.
    package var repetitions: Int?
    package var comparedURL: String?
    /// The URL that the answer is compared with, once it was read.
    package var comparison: URL?

    // What is told about it.
    package var isVerbose = false
    package var isSilent = false
    package var showsErrors = false
    package var hidesProgress = false
    package var showsTiming = false
    package var showsTLS = false
    package var harFile: String?
    package var keepsSecretsInHAR = false
    package var writeOut: WriteOutFormat?
    /// How standard output looks; nil for what fits where it goes.
    package var prettiness: Prettiness?
    package var hasColors = true
    /// The file that gets what is told.
    package var reportFile: String?

    /// Every URL that is asked for.
    package var urls: [URL] { targets.map(\.url) + (comparison.map { [$0] } ?? []) }

    /// Whether the requests are made for a report.
    package var isExperiment: Bool { repetitions != nil || comparison != nil }

    /// Whether a request has content.
    package var sendsBody: Bool { body != .none && !putsDataInQuery }

    /// The value of the Cookie field; nil where the cookies are those that servers and files have set.
    package var cookieField: String? {
        cookieTexts.isEmpty ? nil : cookieTexts.joined(separator: "; ")
    }

    /// Whether complaints are written.
    package var complains: Bool { !isSilent || showsErrors }

    /// Whether all files are named as the URLs' last parts.
    package var usesRemoteNames: Bool { outputs.contains(.remoteName) }

    /// Whether an answer may say that there is nothing new.
    package var isConditional: Bool { condition != nil || comparedTag != nil }
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

/// Where a download goes on.
package enum Resumption: Sendable, Equatable {
    /// Behind what an earlier run has left, if it is still the same resource.
    case kept
    /// At this byte of the file, by the word of the user.
    case at(Int64)
}

/// When an answer is wanted.
package enum TimeCondition: Sendable, Equatable {
    /// A date, or a file whose time is meant.
    case changedSince(String)
    case unchangedSince(String)
}

/// Which addresses hosts may have.
package enum AddressFamily: Sendable, Equatable {
    case ipv4
    case ipv6
}

/// A version of TLS.
package enum TLSVersion: String, Sendable, CaseIterable, Comparable {
    case one = "1.0"
    case oneOne = "1.1"
    case oneTwo = "1.2"
    case oneThree = "1.3"

    /// The older first.
    package static func < (one: TLSVersion, other: TLSVersion) -> Bool { one.rawValue < other.rawValue }
}

extension Options {
    /// What `--proxy` says.
    package enum Proxy: Sendable {
        /// An empty text: no proxy, whatever the environment says.
        case direct
        case server(ProxyConfiguration)
    }
}
