// Bytes that wait for the kernel. Small ones are put together, large ones stay the arrays that they are. Knows nothing
// of what they mean.

/// A line of bytes.
struct OutgoingBytes {
    private var pieces: [[UInt8]] = []
    private var first = 0
    private var position = 0
    /// How many there are.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        count += bytes.count
        if let last = pieces.last, last.count + bytes.count <= Self.joinedAtMost {
            pieces[pieces.count - 1] += bytes
        } else {
            pieces.append(bytes)
        }
    }

    /// Lets `write` take what it will, and says how much that was.
    mutating func send(_ write: (UnsafeRawBufferPointer) -> Int) -> Int {
        var sum = 0
        while first < pieces.count {
            let sent = pieces[first].withUnsafeBytes { all in
                write(UnsafeRawBufferPointer(rebasing: all.dropFirst(position)))
            }
            guard sent > 0 else { break }
            sum += sent
            position += sent
            guard position == pieces[first].count else { continue }
            pieces[first] = []
            (first, position) = (first + 1, 0)
        }
        count -= sum
        if first == pieces.count {
            // An idle web socket keeps nothing.
            pieces = []
            first = 0
        }
        return sum
    }

    /// Below this a copy is cheaper than a send of its own. Picked by feel.
    private static var joinedAtMost: Int { 16 << 10 }
}
