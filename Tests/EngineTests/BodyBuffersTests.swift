// The memory in which bodies arrive: what is kept stays as it is, and what is not kept is used again.

import Testing
import URLLoadingEngine

@Suite("Body buffers")
struct BodyBuffersTests {
    private let buffers = BodyBuffers()

    /// Writes `count` times `byte` where the next read would, and answers the piece.
    private func arrive(_ count: Int, _ byte: UInt8) -> BodyPiece {
        let space = buffers.space(atLeast: count)
        let part = UnsafeMutableRawBufferPointer(rebasing: space[..<min(count, space.count)])
        part.initializeMemory(as: UInt8.self, repeating: byte)
        return BodyPiece(UnsafeRawBufferPointer(part), in: buffers)
    }

    @Test("What is kept does not change, whatever arrives afterwards")
    func keptBytesStay() throws {
        var kept: [KeptBytes] = []
        for byte in 0..<UInt8(40) { kept.append(try #require(arrive(60_000, byte).keep())) }
        for (byte, bytes) in kept.enumerated() {
            #expect(bytes.bytes.count == 60_000)
            #expect(bytes.bytes.allSatisfy { $0 == UInt8(byte) })
        }
    }

    @Test("Several parts of what arrived at once are kept side by side")
    func partsOfOnePiece() throws {
        let space = buffers.space(atLeast: 100_000)
        space.initializeMemory(as: UInt8.self, repeating: 7)
        let whole = UnsafeRawBufferPointer(space)
        let first = try #require(BodyPiece(.init(rebasing: whole[10..<40_010]), in: buffers).keep())
        let second = try #require(BodyPiece(.init(rebasing: whole[40_010..<80_010]), in: buffers).keep())
        _ = arrive(100_000, 9)
        #expect(first.bytes.count == 40_000)
        #expect(first.bytes.allSatisfy { $0 == 7 })
        #expect(second.bytes.count == 40_000)
        #expect(second.bytes.allSatisfy { $0 == 7 })
    }

    @Test("What is read while other bytes are being looked at arrives elsewhere")
    func loansWithin() throws {
        func lend(_ byte: UInt8) -> UnsafeRawBufferPointer {
            let space = buffers.lend(atLeast: 100_000)
            space.initializeMemory(as: UInt8.self, repeating: byte)
            return UnsafeRawBufferPointer(space)
        }
        func keep(_ bytes: UnsafeRawBufferPointer) -> KeptBytes? {
            BodyPiece(UnsafeRawBufferPointer(rebasing: bytes[10..<40_010]), in: buffers).keep()
        }
        let first = lend(1)
        let second = lend(2)
        let keptWithin = try #require(keep(second))
        _ = lend(3)
        buffers.takeBack()
        #expect(second.prefix(100_000).allSatisfy { $0 == 2 })
        buffers.takeBack()
        #expect(first.prefix(100_000).allSatisfy { $0 == 1 })
        let kept = try #require(keep(first))
        buffers.takeBack()
        let next = lend(4)
        buffers.takeBack()
        #expect(next.baseAddress != first.baseAddress)
        #expect(kept.bytes.allSatisfy { $0 == 1 } && keptWithin.bytes.allSatisfy { $0 == 2 })
    }

    @Test("Memory that is no longer kept is used again")
    func memoryIsReused() throws {
        let first = arrive(70_000, 1)
        let start = first.bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0) }
        var kept = first.keep()
        #expect(kept != nil)
        #expect(buffers.space(atLeast: 70_000).baseAddress != start)
        kept = nil
        #expect(buffers.space(atLeast: 70_000).baseAddress == start)
    }

    @Test("As much room as was asked for, also behind kept bytes", arguments: [1, 65_536, 200_000, 262_144])
    func roomIsGiven(wanted: Int) throws {
        var kept: [KeptBytes] = []
        for _ in 0..<30 {
            #expect(buffers.space(atLeast: wanted).count >= wanted)
            kept.append(try #require(arrive(30_000, 3).keep()))
        }
    }

    @Test("Small pieces and pieces from elsewhere are not kept")
    func refusals() {
        #expect(arrive(1000, 1).keep() == nil)
        let elsewhere = [UInt8](repeating: 1, count: 100_000)
        elsewhere.withUnsafeBytes { #expect(BodyPiece($0, in: buffers).keep() == nil) }
    }
}
