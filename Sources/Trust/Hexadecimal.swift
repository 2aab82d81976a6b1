// Bytes as people and files write them.

extension Sequence<UInt8> {
    /// Two small hexadecimal digits for each byte.
    var hexadecimal: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
