// The buffer between a writer and a reader: when a waiter that blocks no thread is called.

import Testing

@testable import URLLoading

@Suite("Bounded buffer", .timeLimit(.minutes(1)))
struct BoundedBufferTests {
    private func write(_ bytes: [UInt8], to buffer: BoundedBuffer) -> Int? {
        bytes.withUnsafeBytes { buffer.offer($0) }
    }

    private func read(_ buffer: BoundedBuffer) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        return bytes.withUnsafeMutableBytes { buffer.poll(into: $0) }.map { Array(bytes.prefix($0)) }
    }

    @Test("A capacity may be any number", arguments: [Int.min, -1, 0, .max])
    func capacities(capacity: Int) {
        let buffer = BoundedBuffer(capacity: capacity)
        let room = capacity == .max ? 2 : 1
        #expect(write([1, 2], to: buffer) == room)
        #expect(read(buffer)?.count == room)
    }

    @Test(
        "A waiting reader is called once, by whatever gives it something to find",
        arguments: ["write", "offer", "closeWriting", "closeReading", "finishWriting", "refuseReading"])
    func calls(what: String) {
        let buffer = BoundedBuffer(capacity: 4)
        let calls = Guarded(0)
        #expect(buffer.isEmpty)
        #expect(buffer.awaitReading { calls.change { $0 += 1 } })
        #expect(calls.value == 0)
        for _ in 1...2 {
            switch what {
            case "write": #expect([UInt8(1)].withUnsafeBytes { buffer.write($0) } == 1)
            case "offer": #expect(write([1], to: buffer) == 1)
            case "closeWriting": buffer.closeWriting()
            case "closeReading": buffer.closeReading()
            case "finishWriting": buffer.finishWriting(nil)
            default: buffer.refuseReading(nil)
            }
        }
        #expect(calls.value == 1)
        #expect(!buffer.isEmpty)
    }

    @Test("A reader that finds something at once is not called")
    func atOnce() {
        let buffer = BoundedBuffer(capacity: 4)
        #expect(write([1, 2], to: buffer) == 2)
        #expect(!buffer.awaitReading { Issue.record("called") })
        #expect(read(buffer) == [1, 2])
        buffer.closeWriting()
        #expect(!buffer.awaitReading { Issue.record("called") })
        #expect(read(buffer) == [])
    }

    @Test("A reader may wait again while it is called, and what it has read does not call it once more")
    func again() {
        let buffer = BoundedBuffer(capacity: 4)
        let calls = Guarded(0)
        let isWaiting = buffer.awaitReading {
            calls.change { $0 += 1 }
            #expect(read(buffer) == [7])
            let waitsAgain = buffer.awaitReading { calls.change { $0 += 10 } }
            #expect(waitsAgain)
        }
        #expect(isWaiting)
        #expect(write([7], to: buffer) == 1)
        #expect(calls.value == 1)
        #expect(write([8], to: buffer) == 1)
        #expect(calls.value == 11)
    }

    @Test("Bytes come out as they went in, wherever the ring ends", arguments: [1, 2, 3, 7, 16])
    func wrapsAround(capacity: Int) {
        for written in 0...capacity {
            for taken in 1...capacity {
                let buffer = BoundedBuffer(capacity: capacity)
                var (put, got) = (0, 0)
                for _ in 0..<3 * capacity {
                    let piece = (put..<put + written).map { UInt8(truncatingIfNeeded: $0) }
                    put += write(piece, to: buffer) ?? 0
                    var bytes = [UInt8](repeating: 0, count: taken)
                    let count = bytes.withUnsafeMutableBytes { buffer.poll(into: $0) } ?? 0
                    let wanted = (got..<got + count).map { UInt8(truncatingIfNeeded: $0) }
                    #expect(Array(bytes.prefix(count)) == wanted)
                    got += count
                }
                #expect(got <= put && (written == 0 || got > 0))
            }
        }
    }
}
