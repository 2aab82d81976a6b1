import Testing
import URLLoadingTLS
import URLLoadingTestSupport

/// Where records end, in whatever pieces they come.
@Suite struct RecordBoundaryTests {
    /// Three records of 3, 0 and 300 octets.
    private static let stream: [UInt8] =
        [23, 3, 3, 0, 3, 1, 2, 3] + [22, 3, 3, 0, 0] + [23, 3, 3, 1, 44] + [UInt8](repeating: 9, count: 300)
    /// After how many octets no record is cut.
    private static let ends: Set<Int> = [0, 8, 13, 318]

    @Test("A stream is between records exactly where one has ended, in pieces of any size", arguments: 1...319)
    func pieces(size: Int) {
        var boundary = RecordBoundary()
        #expect(boundary.isBetweenRecords)
        var passed = 0
        while passed < Self.stream.count {
            let piece = Self.stream[passed...].prefix(size)
            piece.withUnsafeBufferPointer { boundary.passed($0) }
            passed += piece.count
            #expect(boundary.isBetweenRecords == Self.ends.contains(passed))
        }
    }

    @Test(
        "Resting between all pieces of a record changes nothing", arguments: [TLSVersion.v12, .v13], [1, 3, 5, 6, 100])
    func restsAnywhere(_ version: TLSVersion, piece: Int) throws {
        // A session lets go of its buffers at the end of each call that has used up its input.
        let pair = try TLSPair(client: .init(minimum: version, maximum: version), server: Made.serverOptions())
        pair.shakeHands(piece: piece)
        #expect(pair.client.end?.isFinished == true)
        let data = (0..<5_000).map { UInt8(truncatingIfNeeded: $0) }
        for _ in 0..<3 {
            try pair.server.write(data)
            pair.exchange(piece: piece)
            try pair.client.write([1])
            pair.exchange(piece: piece)
        }
        #expect(firstDifference(pair.client.received, data + data + data) == nil)
        #expect(pair.server.received == [1, 1, 1])
    }
}
