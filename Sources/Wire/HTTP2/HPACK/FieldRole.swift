// The fields that mean something else in HTTP/2 than in HTTP/1.1, or that it does not have. Both directions ask here.
// RFC 9113 §8.2.2, §8.2.3, §8.3.1; H3.4, H4.7.

/// What a field is to HTTP/2 by its name.
enum FieldRole {
    /// It goes as it is.
    case ordinary
    /// `connection`, which names others that do not go.
    case connection
    /// One about a connection of HTTP/1.1: it does not go.
    case connectionSpecific
    /// `te`, which goes only as `trailers`.
    case te
    /// `host`, in whose place `:authority` goes.
    case host
    /// `content-length`, which has to agree with the data.
    case contentLength

    /// The role of a name in any spelling.
    @inline(__always)
    init(_ name: UnsafeRawBufferPointer) {
        // The length tells the names apart before any byte is compared.
        switch name.count {
        case 2 where name.equalsIgnoringCase("te"): self = .te
        case 4 where name.equalsIgnoringCase("host"): self = .host
        case 7 where name.equalsIgnoringCase("upgrade"): self = .connectionSpecific
        case 10 where name.equalsIgnoringCase("connection"): self = .connection
        case 10 where name.equalsIgnoringCase("keep-alive"): self = .connectionSpecific
        case 14 where name.equalsIgnoringCase("content-length"): self = .contentLength
        case 14 where name.equalsIgnoringCase("http2-settings"): self = .connectionSpecific
        case 16 where name.equalsIgnoringCase("proxy-connection"): self = .connectionSpecific
        case 17 where name.equalsIgnoringCase("transfer-encoding"): self = .connectionSpecific
        default: self = .ordinary
        }
    }
}
