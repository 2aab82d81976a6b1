// Room in a buffer that goes on growing. `reserveCapacity` gives what is asked for and no more, so that one call before
// each append would move all that is there each time.

extension [UInt8] {
    /// Makes room for so many bytes more. Where the bytes have to move, there is then twice the room, as long as that
    /// is not more than `limit`.
    mutating func makeRoom(for count: Int, upTo limit: Int = .max) {
        let needed = self.count + count
        if needed > capacity { reserveCapacity(Swift.max(needed, Swift.min(2 * capacity, limit))) }
    }
}
