// Standard output and error, without Foundation's formatting, which a start-up measurement would pay for.

import Foundation

/// What the program says, and how it ends.
enum Console {
    static func complain(_ text: String) {
        write(2, text)
    }

    static func say(_ text: String) {
        write(1, text)
    }

    /// For what this client cannot do: the harness shows a gap.
    static func unsupported(_ what: String) -> Never {
        complain("not supported: \(what)")
        exit(69)
    }

    /// A number with so many decimals.
    static func decimal(_ value: Double, places: Int) -> String {
        let scale = (0..<places).reduce(1) { scale, _ in scale * 10 }
        let whole = Int((abs(value) * Double(scale)).rounded())
        let fraction = String(whole % scale)
        let padding = String(repeating: "0", count: max(0, places - fraction.count))
        return "\(value < 0 ? "-" : "")\(whole / scale).\(padding)\(fraction)"
    }

    private static func write(_ descriptor: Int32, _ text: String) {
        let bytes = Array((text + "\n").utf8)
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes { buffer -> Int in
                #if canImport(Glibc)
                    Glibc.write(descriptor, buffer.baseAddress?.advanced(by: offset), buffer.count - offset)
                #else
                    Musl.write(descriptor, buffer.baseAddress?.advanced(by: offset), buffer.count - offset)
                #endif
            }
            if count <= 0 { return }
            offset += count
        }
    }
}
