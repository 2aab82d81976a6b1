// The head of an HTTP response. A live one keeps the bytes in which its fields arrived; the dictionary that
// applications see is made when it is first asked for, once.
//
// Must not know: sessions, tasks, how a head is parsed. RFC 9110.

import Foundation
import Synchronization
import URLLoadingPolicy
import URLLoadingWire

/// The metadata of a response to an HTTP load.
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    // Safe to share: what is not behind a Mutex, or set once, is immutable.
    private let status: Int
    private let fields: Fields
    private let headers: Mutex<ShownFields>
    let version: HTTPVersion
    /// The server's words where they are not the usual ones for the status.
    let unusualReason: String?
    /// How the server was trusted, where a loader has made the response to be stored (B7.102): it goes along with the
    /// response into whatever a program makes of it.
    let trust: AnswerTrust?
    /// What came behind the body, once it has.
    private let trailers = SetOnce<Trailers>()

    /// Makes a response about which nothing is known.
    public override init() {
        status = 0
        fields = Fields()
        headers = Mutex(.strings([:]))
        version = .http11
        unusualReason = nil
        trust = nil
        super.init()
    }

    /// Makes a response by hand.
    public init?(url: URL, statusCode: Int, httpVersion HTTPVersion: String?, headerFields: [String: String]?) {
        status = statusCode
        fields = Fields()
        let canonical = HeaderNames.merged(headerFields ?? [:])
        headers = Mutex(.strings(canonical))
        version = .http11
        unusualReason = nil
        trust = nil
        super.init(url: url, expectedContentLength: Self.contentLength(canonical))
    }

    /// Makes the response of a load from the head as it arrived.
    ///
    /// `bodyIsDecoded` says that a content coding is being undone, which leaves the length unknown (B5.57).
    init(url: URL?, head: borrowing ResponseHead, framing: BodyFraming, bodyIsDecoded: Bool) {
        status = head.status
        fields = head.fields
        headers = Mutex(.unmade)
        version = head.version
        unusualReason = head.unusualReason
        trust = nil
        let length: Int64 =
            switch framing {
            case .length(let length): bodyIsDecoded ? NSURLSessionTransferSizeUnknown : length
            case .chunked, .untilClose: NSURLSessionTransferSizeUnknown
            // B5.58: the length that the body would have.
            case .none where ContentDecoder.decodesContent(of: head): NSURLSessionTransferSizeUnknown
            case .none: head.announcedLength ?? NSURLSessionTransferSizeUnknown
            }
        super.init(url: url, expectedContentLength: length)
    }

    /// Makes a response of fields that have arrived, now, in another process, or before it was kept in a cache.
    package init(
        url: URL?, status: Int, fields: Fields, expectedContentLength: Int64, trust: AnswerTrust? = nil,
        version: HTTPVersion = .http11, unusualReason: String? = nil
    ) {
        self.status = status
        self.fields = fields
        headers = Mutex(.unmade)
        self.version = version
        self.unusualReason = unusualReason
        self.trust = trust
        super.init(url: url, expectedContentLength: expectedContentLength)
    }

    /// Reads a response from a keyed archive.
    public required init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return nil }
        status = coder.decodeInteger(forKey: Key.status)
        fields = Fields()
        let stored = coder.decodeObject(of: [NSDictionary.self, NSString.self], forKey: Key.fields) as? NSDictionary
        var dictionary: [String: String] = [:]
        for (name, value) in stored ?? [:] {
            if let name = name as? String, let value = value as? String { dictionary[name] = value }
        }
        headers = Mutex(.strings(dictionary))
        version = .http11
        unusualReason = nil
        trust =
            coder.containsValue(forKey: Key.trust)
            ? AnswerTrust.read(from: coder, forKey: Key.trust) : nil
        super.init(coder: coder)
    }

    /// Writes the response to a keyed archive (B5.62).
    open override func encode(with coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return }
        super.encode(with: coder)
        coder.encode(status, forKey: Key.status)
        let dictionary = NSMutableDictionary()
        for (name, value) in headerDictionary { dictionary.setObject(value as NSString, forKey: name as NSString) }
        coder.encode(dictionary, forKey: Key.fields)
        trust?.write(to: coder, forKey: Key.trust)
    }

    /// The three digits of the status line.
    open var statusCode: Int { status }

    /// The fields: well-known names in canonical capitals (B5.45), repeated fields joined with ", " (B5.44).
    open var allHeaderFields: [AnyHashable: Any] { headers.withLock { $0.forPrograms(fields) }.dictionary }

    /// A field's value; the case of the name does not matter (B5.46).
    @discardableResult
    open func value(forHTTPHeaderField field: String) -> String? {
        if !fields.isEmpty { return fields.combined(FieldName(field)) }
        return headerDictionary.first { FieldText.sameName($0.key, field) }?.value
    }

    /// A short text for a status code, in lower case; unknown codes give the text of their class (B5.50).
    @discardableResult
    open class func localizedString(forStatusCode statusCode: Int) -> String {
        StatusPhrases.phrase(statusCode)
    }

    /// The media type of Content-Type without parameters, in lower case (B5.51); never guessed (B5.54). Of several the
    /// last counts that is one (B5.72).
    open override var mimeType: String? { contentType?.type }

    /// The charset of Content-Type, in lower case (B5.52).
    open override var textEncodingName: String? { contentType?.charset }

    open override var suggestedFilename: String? {
        SuggestedFilename.make(contentDisposition: value(forHTTPHeaderField: "Content-Disposition"), url: url)
    }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? HTTPURLResponse, super.isEqual(other) else { return false }
        return status == other.status && headerDictionary == other.headerDictionary
    }

    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(super.hash)
        hasher.combine(status)
        return hasher.finalize()
    }

    /// The class, the place in memory, the URL, the status and the fields, without passwords,
    /// cookies and tokens (B17.57).
    open override var description: String {
        let name = type(of: self) == HTTPURLResponse.self ? "NSHTTPURLResponse" : nil
        return "\(ErrorText.name(of: self, name)) { URL: \(ErrorText.shown(url)) } { Status Code: \(status), "
            + "Headers \(FieldListing.of(headerDictionary)) }"
    }

    /// The fields as they arrived; of a response made by hand, in the order of their names.
    package var arrivedFields: Fields {
        if !fields.isEmpty { return fields }
        var made = Fields()
        for (name, value) in headerDictionary.sorted(by: { $0.key < $1.key }) { made.append(name, value) }
        return made
    }

    /// The line in front of the fields. HTTP/2 has neither a minor version nor words.
    var firstLine: String {
        if version == .http2 { return "HTTP/2 \(status)" }
        let head = ResponseHead(status: status, reason: unusualReason, version: version)
        return "HTTP/1.\(version.minor) \(status) \(head.reason)"
    }

    /// Fields came behind the body; only the first count.
    func ended(with fields: Fields) { trailers.set(Trailers(fields)) }

    /// What came behind the body; empty where nothing did, or has yet.
    var arrivedTrailers: Fields { trailers.value?.fields ?? Fields() }

    private final class Trailers: Sendable {
        let fields: Fields

        init(_ fields: Fields) { self.fields = fields }
    }

    private var headerDictionary: [String: String] { headers.withLock { $0.strings(fields) } }

    private var contentType: MediaType? {
        value(forHTTPHeaderField: "Content-Type").map(MediaType.init)
    }

    /// The announced length of a response made by hand, whatever else its fields say (B5.56).
    private static func contentLength(_ headers: [String: String]) -> Int64 {
        guard let text = headers["Content-Length"], !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
        else {
            return NSURLSessionTransferSizeUnknown
        }
        return Int64(text) ?? NSURLSessionTransferSizeUnknown
    }

    private enum Key {
        static let status = "statusCode"
        static let fields = "allHeaderFields"
        static let trust = "serverTrust"
    }
}

/// A response's fields as programs see them; made when they are first asked for.
private enum ShownFields: Sendable {
    case unmade
    case strings([String: String])
    case both(ForPrograms)

    /// In the type of `allHeaderFields`, too: a table of its own, which a conversion would make anew at each access.
    final class ForPrograms: @unchecked Sendable {
        // Safe to share: it is never changed, and the dictionary of any values holds strings only.
        let dictionary: [AnyHashable: Any]
        let strings: [String: String]

        init(_ strings: [String: String]) {
            dictionary = strings
            self.strings = strings
        }
    }

    /// The fields by name.
    mutating func strings(_ fields: Fields) -> [String: String] {
        switch self {
        case .unmade:
            let made = HeaderNames.dictionary(fields)
            self = .strings(made)
            return made
        case .strings(let made): return made
        case .both(let made): return made.strings
        }
    }

    /// The fields in both types.
    mutating func forPrograms(_ fields: Fields) -> ForPrograms {
        if case .both(let made) = self { return made }
        let made = ForPrograms(strings(fields))
        self = .both(made)
        return made
    }
}
