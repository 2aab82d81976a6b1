// The words of case files for what HTTP/2 knows by numbers: frames, settings, codes of errors.
//
// Must not know: lines and servers. docs/conformance-cases.md.

import URLLoadingWire

/// Which frames a word means.
struct HTTP2FrameKind: Sendable, CustomStringConvertible {
    let type: UInt8
    /// Whether it is SETTINGS or PING as an answer.
    var isAcknowledgement = false

    /// The word itself.
    let description: String

    /// A name, or a type as a hexadecimal number.
    init(_ word: String) throws(CaseFault) {
        description = word
        switch word {
        case "ack": (type, isAcknowledgement) = (HTTP2FrameType.settings.rawValue, true)
        case "pong": (type, isAcknowledgement) = (HTTP2FrameType.ping.rawValue, true)
        default:
            guard let type = Self.names[word]?.rawValue ?? UInt8(word, radix: 16) else {
                throw CaseFault("\"\(word)\" is no type of frame")
            }
            self.type = type
        }
    }

    private static let names: [String: HTTP2FrameType] = [
        "data": .data, "headers": .headers, "priority": .priority, "rst": .resetStream, "settings": .settings,
        "push": .pushPromise, "ping": .ping, "goaway": .goAway, "window": .windowUpdate, "continuation": .continuation,
    ]
}

/// Names that stand for numbers.
enum HTTP2Words {
    /// The number of a setting, from its name or itself.
    static func setting(_ word: some StringProtocol) throws(CaseFault) -> UInt16 {
        guard let identifier = settings[String(word)] ?? UInt16(word) else {
            throw CaseFault("\"\(word)\" is no setting")
        }
        return identifier
    }

    /// The code of an error, from the name that RFC 9113 §7 gives it, or its number.
    static func code(_ word: String) throws(CaseFault) -> HTTP2ErrorCode {
        if let number = UInt32(word) { return HTTP2ErrorCode(rawValue: number) }
        let known = (0...HTTP2ErrorCode.http11Required.rawValue).map { HTTP2ErrorCode(rawValue: $0) }
        guard let code = known.first(where: { $0.description == word }) else {
            throw CaseFault("\"\(word)\" is no code of an error")
        }
        return code
    }

    private static let settings: [String: UInt16] = [
        "table": HTTP2Settings.Identifier.headerTableSize, "push": HTTP2Settings.Identifier.enablePush,
        "streams": HTTP2Settings.Identifier.maximumConcurrentStreams,
        "window": HTTP2Settings.Identifier.initialWindowSize, "frame": HTTP2Settings.Identifier.maximumFrameSize,
        "list": HTTP2Settings.Identifier.maximumHeaderListSize,
        "connect": HTTP2Settings.Identifier.enableConnectProtocol,
        "no-priorities": HTTP2Settings.Identifier.noOldPriorities,
    ]
}

extension CaseLine {
    /// The next word as a number, which must be there.
    mutating func takeNumber<Number: FixedWidthInteger>(
        _ what: String, radix: Int = 10
    ) throws(CaseFault) -> Number {
        guard let number = takeWord().flatMap({ Number($0, radix: radix) }) else {
            throw CaseFault("\(what) is missing")
        }
        return number
    }
}
