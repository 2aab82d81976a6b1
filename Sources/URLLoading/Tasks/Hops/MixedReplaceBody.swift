// A multipart/x-mixed-replace body on its way to a delegate: each part is a response of its own (B1.62), as servers of
// camera pictures send them.
//
// Must not know: tasks, and which delegate gets the parts. RFC 2046 §5.1.

import Foundation
import URLLoadingWire

/// Takes one such body apart.
final class MixedReplaceBody {
    private var decoder: MultipartDecoder
    private let url: URL?
    private let status: Int

    /// What is found in it.
    enum Element {
        case part(HTTPURLResponse)
        case data(Data)
    }

    /// `nil` when the response is none such, or names no boundary.
    init?(_ head: ResponseHead, url: URL?) {
        guard Self.mayBegin(head.fields), let type = head.fields.combined(.contentType).map(MediaType.init),
            type.type == "multipart/x-mixed-replace",
            let decoder = MultipartDecoder(boundary: type.parameter("boundary") ?? "")
        else { return nil }
        self.decoder = decoder
        self.url = url
        status = head.status
    }

    /// Whether it is worth while to read the type: it begins like ours, or is one of several (B5.72).
    private static func mayBegin(_ fields: Fields) -> Bool {
        if fields.first(.contentType, beginsWith: "multipart/x-mixed-replace") { return true }
        var (lines, isList) = (0, false)
        fields.forEachValue(.contentType) { value in
            lines &+= 1
            isList = isList || value.baseAddress.map { memchr($0, 0x2C, value.count) } ?? nil != nil
        }
        return lines > 1 || isList
    }

    /// Tells what the next bytes hold, in order.
    func read(_ bytes: UnsafeRawBufferPointer, _ tell: (Element) -> Void) throws(WireError) {
        var offset = 0
        while offset < bytes.count {
            switch try decoder.next(bytes.bytes, offset: &offset) {
            case .needMore, .end: break
            case .part(let fields):
                let head = ResponseHead(status: status, fields: fields)
                // Its content is told as it comes, whatever codings it names.
                let framing = head.announcedLength.map(BodyFraming.length) ?? .untilClose
                tell(.part(HTTPURLResponse(url: url, head: head, framing: framing, bodyIsDecoded: false)))
            case .body(let range): tell(.data(Data(bytes[range])))
            case .heldBody(let held): tell(.data(Data(held)))
            }
        }
    }

    /// The body is over: what is left of the last part.
    func finish() -> Data { Data(decoder.finish()) }
}
