// Makes of a `URLRequest` what the engine sends: origin, ways, target, fields and framing. Whatever is wrong with a
// request is found here, before anything is opened.
//
// Origins are remembered per session, with the fields that a request without fields of its own gets, so that a plain
// GET builds almost nothing.
//
// Must not know: tasks, delegates, connections. RFC 3986 §3, RFC 9110 §4, RFC 9112 §3.

import Foundation
import Synchronization
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingWire

/// Builds the requests of one session.
final class RequestBuilder: Sendable {
    private let settings: SessionSettings
    /// The origin that was met first, mostly the only one: it is found without a lock.
    private let firstKnown = SetOnce<KnownOrigin>()
    private let known = Mutex<[KnownOrigin]>([])

    init(settings: SessionSettings) {
        self.settings = settings
    }

    /// A request as the engine sends it.
    struct Message {
        let origin: Origin
        let ways: ProxyWays
        private(set) var head: RequestHead
        /// Whether the loader has put cookies into the head.
        let carriesCookies: Bool
        let body: RequestBody
        let framing: BodyFraming

        /// The fields without the secrets that the loader adds: what others may see of them.
        var shownFields: Fields {
            guard carriesCookies else { return head.fields }
            var fields = head.fields
            fields.removeAll(.cookie)
            return fields
        }

        /// A copy with more fields.
        func adding(_ fields: Fields) -> Message {
            var message = self
            for index in 0..<fields.count {
                message.head.fields.append(fields.name(at: index), fields.value(at: index))
            }
            return message
        }

        /// A copy that asks for a web socket (B15.2).
        func asking(_ handshake: WebSocketHandshake) -> Message {
            var message = self
            handshake.ask(in: &message.head.fields)
            return message
        }

        /// A copy with these fields in place of others of their names.
        func replacing(_ fields: Fields) -> Message {
            var message = self
            for index in 0..<fields.count {
                message.head.fields.replace(fields.name(at: index), with: fields.value(at: index))
            }
            return message
        }
    }

    /// Builds a request that is sent with `content`, whatever the request's own body is; `first`
    /// is where its task began.
    func message(
        for request: URLRequest, after first: URLRequest?, content: HopContent, cookies: HopCookies = .none
    ) throws(URLError) -> Message {
        guard let url = request.values.url else {
            throw LoadFailure.unsupportedURL(nil, "The request has no URL.")
        }
        let length = content.length
        let method = request.values.method
        if method == "CONNECT" {
            throw LoadFailure.unsupportedURL(url, "CONNECT requests are made by the loader only.")
        }
        if RequestFieldRules.isRefused(method: method, body: length) { throw LoadFailure.bodyOfGET(url) }
        let policy = settings.cachePolicy(of: request)
        if policy == .returnCacheDataDontLoad, settings.cache == nil { throw LoadFailure.notCached(url) }

        let (place, target) = try place(of: url)
        try refusePlainHTTP(place.origin, url)
        let socketPath = request.values.unixSocketPath
        if socketPath == nil, request.values.requiresDNSSECValidation || settings.requiresDNSSECValidation {
            try refuseLookup(place, url)
        }
        if let text = settings.unusableLocalAddress { throw LoadFailure.unusableLocalAddress(url, text) }
        let isPlain =
            request.values.fields.isEmpty && policy != .reloadIgnoringLocalAndRemoteCacheData
            && (settings.openAdditionalFields == nil || isWhereItBegan(request, first))
        var fields =
            isPlain && !length.hasContent
            ? place.fields : self.fields(for: request, after: first, method: method, to: place.origin, content)
        if case .stream(let source) = content, !source.trailerNames.isEmpty {
            fields.append(.trailer, source.trailerNames.joined(separator: ", "))
        }
        if request.values.acceptsTrailers {
            // RFC 9110 §10.1.4: it is about this connection only.
            fields.replace(.connection, with: "keep-alive, TE")
            fields.append(.te, "trailers")
        }
        // B8.57: a field that the program has set stays as it is.
        var carriesCookies = false
        if let cookie = cookies.field(for: request, to: place.origin, target: target), !fields.contains(.cookie) {
            fields.append(.cookie, cookie)
            carriesCookies = true
        }
        let ways = if let socketPath { ProxyWays.routes([.direct(overridePath: socketPath)]) } else { place.ways }
        return Message(
            origin: place.origin, ways: ways,
            head: RequestHead(method: method, target: target, fields: fields), carriesCookies: carriesCookies,
            body: content.body,
            framing: RequestFieldRules.framing(
                method: method, body: length,
                applicationLength: content.mayHaveLengthOfRequest
                    ? request.value(forHTTPHeaderField: "Content-Length") : nil))
    }

    /// The fields of a request that has some of its own, or a body.
    func fields(
        for request: URLRequest, after first: URLRequest?, method: String, to origin: Origin, _ content: HopContent
    ) -> Fields {
        let policy = settings.cachePolicy(of: request)
        return RequestFieldRules.fields(
            application: Self.applicationFields(request, policy: policy),
            additional: additionalFields(for: request, after: first),
            defaults: settings.defaultFields, method: method, origin: origin, body: content.length)
    }

    /// The session's own fields that go with a hop. What is a secret goes only where the task began: the program has
    /// named no other place for it (B4.27).
    func additionalFields(for request: URLRequest, after first: URLRequest?) -> Fields {
        guard let open = settings.openAdditionalFields, !isWhereItBegan(request, first) else {
            return settings.additionalFields
        }
        return open
    }

    /// A request that was made of one which has the session's own fields already, without the secrets among them where
    /// it leads to another place (B4.27).
    func leavingSecrets(_ request: URLRequest, after first: URLRequest?) -> URLRequest {
        guard settings.openAdditionalFields != nil, !isWhereItBegan(request, first) else { return request }
        var request = request
        for index in 0..<settings.additionalFields.count {
            let name = String(describing: settings.additionalFields.name(at: index))
            guard RedirectRules.isCredential(name),
                request.value(forHTTPHeaderField: name) == settings.additionalFields.value(at: index)
            else { continue }
            request.setValue(nil, forHTTPHeaderField: name)
        }
        return request
    }

    /// Whether a hop has the origin of its task's first one; another way to it, a socket, is another place.
    private func isWhereItBegan(_ request: URLRequest, _ first: URLRequest?) -> Bool {
        guard let first, let url = request.values.url, let beginning = first.values.url,
            request.values.unixSocketPath.hasSameBytes(as: first.values.unixSocketPath)
        else { return false }
        if url == beginning { return true }
        guard let (place, _) = try? place(of: url.overHTTP), let (home, _) = try? self.place(of: beginning.overHTTP)
        else { return false }
        return place.origin == home.origin
    }

    /// The place of a URL as cookies see it; nil where no request can go there.
    func cookiePlace(of url: URL) -> CookiePlace? {
        guard let (place, target) = try? place(of: url.overHTTP) else { return nil }
        return CookiePlace(origin: place.origin, target: target)
    }

    /// Where a request goes, and its target there.
    private func place(of url: URL) throws(URLError) -> (KnownOrigin, target: String) {
        var text = url.absoluteString
        let met = text.withUTF8 { bytes -> (KnownOrigin, target: String)? in
            if let first = firstKnown.value, let target = first.target(of: bytes) { return (first, target) }
            for origin in known.withLock(\.self) {
                if let target = origin.target(of: bytes) { return (origin, target) }
            }
            return nil
        }
        if let met { return met }
        let parts = try URLText(url)
        return (try meet(parts, url: url), parts.target)
    }

    private func meet(_ text: URLText, url: URL) throws(URLError) -> KnownOrigin {
        let origin = try text.origin(of: url)
        let entry = KnownOrigin(
            prefix: text.prefix, origin: origin,
            fields: RequestFieldRules.fields(
                application: Fields(), additional: settings.additionalFields, defaults: settings.defaultFields,
                method: "GET", origin: origin, body: .none
            ).sealed(), ways: settings.proxies.ways(to: origin))
        // User information may hold a password: not a thing to keep.
        if text.hasUserInformation || firstKnown.set(entry) { return entry }
        known.withLock { known in
            if known.count >= Self.rememberedOrigins { known.removeFirst() }
            known.append(entry)
        }
        return entry
    }

    /// B3.76, B3.84: every hop is built here, so that a redirect cannot lead out of TLS either.
    private func refusePlainHTTP(_ origin: Origin, _ url: URL) throws(URLError) {
        guard let security = settings.engine.transportSecurity, origin.scheme == .http,
            !security.allowsPlainHTTP(host: origin.matchingHost)
        else { return }
        throw LoadFailure.insecure(url, host: origin.matchingHost)
    }

    /// The system's resolver cannot tell whether an answer was validated, so a load that insists on it must not ask;
    /// nor can a proxy.
    private func refuseLookup(_ place: KnownOrigin, _ url: URL) throws(URLError) {
        let origin = place.origin
        if settings.proxies.usesSocket || origin.isIPLiteral || settings.overrides(origin.host, port: origin.port) {
            return
        }
        throw LoadFailure.cannotValidateDNSSEC(url, host: origin.host)
    }

    private static func applicationFields(_ request: URLRequest, policy: NSURLRequest.CachePolicy) -> Fields {
        var fields = Fields()
        for field in request.values.fields.fields { fields.append(field.name, field.value) }
        if policy == .reloadIgnoringLocalAndRemoteCacheData {
            if !fields.contains(.cacheControl) { fields.append(.cacheControl, "no-cache") }
            if !fields.contains(.pragma) { fields.append(.pragma, "no-cache") }
        }
        return fields
    }

    /// Picked by feel: most sessions talk to a handful of hosts, and the list is searched from its front.
    private static let rememberedOrigins = 16
}

extension HopContent {
    /// How long it is, as far as that is known.
    var length: RequestBodyLength {
        switch self {
        case .none: .none
        case .data(let data): .known(Int64(data.count))
        case .file(let file): .known(file.byteCount)
        case .section(_, _, let count): .known(count)
        case .stream(let source): source.byteCount.map { .known($0) } ?? .stream
        }
    }

    /// Whether the Content-Length that the program has set counts (B5.28): trailers have no place behind a length.
    fileprivate var mayHaveLengthOfRequest: Bool {
        if case .stream(let source) = self { source.byteCount == nil && source.trailerNames.isEmpty } else { false }
    }

    /// The body as the engine takes it.
    var body: RequestBody {
        switch self {
        case .none: .none
        case .data(let data): data.isEmpty ? .none : .bytes(ContentBytes(data: data))
        case .file(let file): file.byteCount == 0 ? .none : .file(file)
        case .section(let file, let start, let count): count == 0 ? .none : .section(file, from: start, count: count)
        case .stream(let source): .stream(source)
        }
    }
}

/// `Data` as the engine reads it, in place.
struct ContentBytes: BodyBytes {
    let data: Data

    var count: Int { data.count }

    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try data.withUnsafeBytes(body)
    }
}
