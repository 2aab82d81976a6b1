// Which bytes of a Swift file are code. It does not know what the code means.

/// A Swift file's bytes in which comments and the contents of strings are blanks, each byte at its place.
struct CodeMask {
    private(set) var bytes: [UInt8]
    /// Whether every comment and string has its end. Where not, the file has a form that is not understood here.
    private(set) var isSound = true

    private enum State {
        case code(parentheses: Int)
        case comment(depth: Int)
        case string(hashes: Int, isLong: Bool)
    }

    init(_ source: [UInt8]) {
        bytes = source
        var states = [State.code(parentheses: 0)]
        var place = 0
        while place < source.count, let state = states.last {
            switch state {
            case .code(let parentheses): place = Self.code(source, place, parentheses, &states, &bytes)
            case .comment(let depth): place = Self.comment(source, place, depth, &states, &bytes)
            case .string(let hashes, let isLong):
                place = Self.string(source, place, hashes, isLong, &states, &bytes)
            }
        }
        if states.count != 1 { isSound = false }
    }

    private static func code(
        _ source: [UInt8], _ place: Int, _ parentheses: Int, _ states: inout [State], _ bytes: inout [UInt8]
    ) -> Int {
        if source.has("//", at: place) {
            let end = source[place...].firstIndex(of: UInt8(ascii: "\n")) ?? source.count
            for index in place..<end { bytes.blank(index) }
            return end
        }
        if source.has("/*", at: place) {
            states.append(.comment(depth: 1))
            bytes.blank(place)
            bytes.blank(place + 1)
            return place + 2
        }
        let hashes = source[place...].prefix { $0 == UInt8(ascii: "#") }.count
        if source.has("\"", at: place + hashes) {
            let isLong = source.has("\"\"\"", at: place + hashes)
            states.append(.string(hashes: hashes, isLong: isLong))
            return place + hashes + (isLong ? 3 : 1)
        }
        // A parenthesis counts inside of an interpolation only, whose end it may be.
        if states.count > 1 {
            if source[place] == UInt8(ascii: "(") { states[states.count - 1] = .code(parentheses: parentheses + 1) }
            if source[place] == UInt8(ascii: ")") {
                if parentheses == 0 {
                    states.removeLast()
                } else {
                    states[states.count - 1] = .code(parentheses: parentheses - 1)
                }
            }
        }
        return place + max(hashes, 1)
    }

    private static func comment(
        _ source: [UInt8], _ place: Int, _ depth: Int, _ states: inout [State], _ bytes: inout [UInt8]
    ) -> Int {
        let opens = source.has("/*", at: place)
        let closes = source.has("*/", at: place)
        bytes.blank(place)
        guard opens || closes else { return place + 1 }
        bytes.blank(place + 1)
        let depth = depth + (opens ? 1 : -1)
        if depth == 0 { states.removeLast() } else { states[states.count - 1] = .comment(depth: depth) }
        return place + 2
    }

    private static func string(
        _ source: [UInt8], _ place: Int, _ hashes: Int, _ isLong: Bool, _ states: inout [State],
        _ bytes: inout [UInt8]
    ) -> Int {
        let marks = String(repeating: "#", count: hashes)
        let end = (isLong ? "\"\"\"" : "\"") + marks
        if source.has(end, at: place) {
            states.removeLast()
            return place + end.utf8.count
        }
        if !isLong, source[place] == UInt8(ascii: "\n") {
            states.removeLast()
            return place
        }
        let escape = "\\" + marks
        guard source.has(escape, at: place) else {
            bytes.blank(place)
            return place + 1
        }
        let next = place + escape.utf8.count
        for index in place..<next { bytes.blank(index) }
        if source.has("(", at: next) {
            states.append(.code(parentheses: 0))
            return next + 1
        }
        if next < source.count { bytes.blank(next) }
        return next + 1
    }
}

extension [UInt8] {
    /// Whether these characters stand here.
    func has(_ text: String, at place: Int) -> Bool {
        let text = text.utf8
        return place <= count && count - place >= text.count && self[place..<place + text.count].elementsEqual(text)
    }

    /// Makes a byte a blank, unless it ends a line or is not there.
    fileprivate mutating func blank(_ place: Int) {
        guard indices.contains(place), self[place] != UInt8(ascii: "\n"), self[place] != UInt8(ascii: "\r") else {
            return
        }
        self[place] = UInt8(ascii: " ")
    }
}
