// What is known about a response besides its body, for any scheme.
//
// Must not know: sessions, tasks, HTTP (that is `HTTPURLResponse`).

import Foundation

/// The metadata of a response to a load.
open class URLResponse: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Safe to share: every stored property is immutable.
    private let givenURL: URL?
    private let givenMIMEType: String?
    private let givenLength: Int64
    private let givenEncoding: String?

    /// Makes a response about which nothing is known.
    public override init() {
        givenURL = nil
        givenMIMEType = nil
        givenLength = NSURLSessionTransferSizeUnknown
        givenEncoding = nil
        super.init()
    }

    /// Makes a response from its parts, which are kept unchanged (B5.53).
    public init(
        url URL: URL, mimeType MIMEType: String?, expectedContentLength length: Int, textEncodingName name: String?
    ) {
        givenURL = URL
        givenMIMEType = MIMEType
        givenLength = Int64(length)
        givenEncoding = name
        super.init()
    }

    /// Makes the base of an HTTP response, whose type and encoding are read from its fields.
    init(url: URL?, expectedContentLength: Int64) {
        givenURL = url
        givenMIMEType = nil
        givenLength = expectedContentLength
        givenEncoding = nil
        super.init()
    }

    /// Reads a response from a keyed archive.
    public required init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return nil }
        givenURL = coder.decodeObject(of: NSURL.self, forKey: Key.url).map { $0 as URL }
        givenMIMEType = coder.decodeObject(of: NSString.self, forKey: Key.mimeType).map { $0 as String }
        givenLength = coder.decodeInt64(forKey: Key.length)
        givenEncoding = coder.decodeObject(of: NSString.self, forKey: Key.encoding).map { $0 as String }
        super.init()
    }

    /// Writes the response to a keyed archive (B5.62).
    open func encode(with coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return }
        coder.encode(givenURL.map { $0 as NSURL }, forKey: Key.url)
        coder.encode(mimeType.map { $0 as NSString }, forKey: Key.mimeType)
        coder.encode(expectedContentLength, forKey: Key.length)
        coder.encode(textEncodingName.map { $0 as NSString }, forKey: Key.encoding)
    }

    /// Responses can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Gives the response itself: it cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func copy() -> Any { self }

    /// The URL that answered.
    open var url: URL? { givenURL }

    /// The media type without parameters.
    open var mimeType: String? { givenMIMEType }

    /// The length of the body in bytes, or −1 when it is not known.
    open var expectedContentLength: Int64 { givenLength }

    /// The name of the text encoding.
    open var textEncodingName: String? { givenEncoding }

    /// A name under which the body may be saved; never a path (B5.64–B5.70).
    open var suggestedFilename: String? {
        SuggestedFilename.make(contentDisposition: nil, url: url)
    }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? URLResponse, type(of: self) == type(of: other) else { return false }
        return url == other.url && mimeType == other.mimeType && textEncodingName == other.textEncodingName
            && expectedContentLength == other.expectedContentLength
    }

    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(url)
        hasher.combine(mimeType)
        hasher.combine(expectedContentLength)
        hasher.combine(textEncodingName)
        return hasher.finalize()
    }

    /// The class, the place in memory and the URL, without a password (B17.57).
    open override var description: String {
        let name = type(of: self) == URLResponse.self ? "NSURLResponse" : nil
        return "\(ErrorText.name(of: self, name)) { URL: \(ErrorText.shown(url)) }"
    }

    private enum Key {
        static let url = "url"
        static let mimeType = "mimeType"
        static let length = "expectedContentLength"
        static let encoding = "textEncodingName"
    }
}
