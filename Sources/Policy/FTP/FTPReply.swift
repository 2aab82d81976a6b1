// What an FTP server says on the control connection, cut out of its bytes: single lines, or several between the first
// and the last that bear the same number. RFC 959 §4.2. Lines may end with a bare LF, as some servers' do.
//
// Must not know: what was asked, what a number means for it, where the bytes come from.

/// One reply of an FTP server.
package struct FTPReply: Sendable, Hashable {
    /// What the first digit says (RFC 959 §4.2.1).
    package enum Kind: Sendable, Hashable {
        /// Begun; another reply follows.
        case preliminary
        /// Done.
        case completion
        /// Something more is needed first.
        case intermediate
        /// Not now.
        case transientRefusal
        /// No.
        case refusal
    }

    /// 100 to 599.
    package let code: Int
    /// The text behind the number; of several lines, the last one's. Any bytes but LF.
    package let text: [UInt8]

    /// Makes a reply of its parts.
    package init(code: Int, text: [UInt8] = []) {
        self.code = code
        self.text = text
    }

    /// What the first digit says.
    package var kind: Kind {
        switch code {
        case ..<200: .preliminary
        case ..<300: .completion
        case ..<400: .intermediate
        case ..<500: .transientRefusal
        default: .refusal
        }
    }
}

/// Finds replies in bytes that come in pieces of any size.
package struct FTPReplyDecoder: Sendable {
    private var line: [UInt8] = []
    /// The number of the reply whose last line has not come, and how many of its lines have.
    private var open: (code: Int, lines: Int)?
    private var failure: FTPFailure.Malformation?

    /// A decoder at the beginning of a connection.
    package init() {}

    /// Whether a reply has begun to come.
    package var isInside: Bool { !line.isEmpty || open != nil }

    /// Takes bytes from `offset` on until a reply is complete; nil when more are needed.
    package mutating func next(_ bytes: UnsafeRawBufferPointer, offset: inout Int) throws(FTPFailure) -> FTPReply? {
        if let failure { throw .malformedReply(failure) }
        do throws(FTPFailure.Malformation) {
            while offset < bytes.count {
                let byte = bytes[offset]
                offset += 1
                if byte != UInt8(ascii: "\n") {
                    guard line.count < Self.longestLine else { throw .lineTooLong }
                    line.append(byte)
                } else if let reply = try lineEnded() {
                    return reply
                }
            }
            return nil
        } catch {
            failure = error
            line = []
            throw .malformedReply(error)
        }
    }

    private mutating func lineEnded() throws(FTPFailure.Malformation) -> FTPReply? {
        defer { line.removeAll(keepingCapacity: true) }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard let (code, lines) = open else {
            guard let code = Self.code(line) else { throw .noReply }
            guard Self.isContinued(line) else { return reply(code) }
            open = (code, 1)
            return nil
        }
        // Lines in between may begin with anything, other numbers included.
        if Self.code(line) == code, !Self.isContinued(line) {
            open = nil
            return reply(code)
        }
        guard lines < Self.mostLines else { throw .tooManyLines }
        open = (code, lines + 1)
        return nil
    }

    private func reply(_ code: Int) -> FTPReply {
        FTPReply(code: code, text: Array(line.dropFirst(4)))
    }

    private static func isContinued(_ line: [UInt8]) -> Bool { line.count > 3 && line[3] == UInt8(ascii: "-") }

    /// The number at a line's beginning, behind which there is a space, a hyphen or nothing.
    private static func code(_ line: [UInt8]) -> Int? {
        guard line.count >= 3, (UInt8(ascii: "1")...UInt8(ascii: "5")).contains(line[0]) else { return nil }
        if line.count > 3, line[3] != UInt8(ascii: " "), line[3] != UInt8(ascii: "-") { return nil }
        var code = 0
        for byte in line[..<3] {
            guard ASCII.isDigit(byte) else { return nil }
            code = code * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return code
    }

    // Picked by feel: greetings of public servers have some dozens of lines of some eighty characters.
    private static let longestLine = 4 * 1024
    private static let mostLines = 1024
}
