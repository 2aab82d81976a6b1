// The vectors of eight encoders, whole and byte by byte, and our own encoder on their lists.

import Testing
import URLLoadingWire

@Suite("HPACK: vectors of other encoders")
struct HPACKVectorTests {
    @Test("H12.1: every block gives its list, whole and byte by byte", arguments: HPACKVectors.encoders)
    func decoded(encoder: String) throws {
        let wires = HPACKVectors.wires(encoder)
        #expect(wires.count >= 218)
        var story = -1
        var whole = HPACKReader()
        var cut = HPACKReader()
        for wire in wires {
            if wire.story != story {
                // A new connection.
                whole = HPACKReader()
                cut = HPACKReader()
                story = wire.story
            }
            if let size = wire.tableSize {
                whole.decoder.tableSizeAcknowledged(size)
                cut.decoder.tableSizeAcknowledged(size)
            }
            let list = HPACKVectors.shared.lists[.init(story: wire.story, number: wire.number)]
            let fields = try whole.read(wire.block)
            guard fields == list, try cut.read(wire.block.indices.map { wire.block[$0...$0] }) == list else {
                Issue.record("story \(wire.story), \(wire.number): \(fields)")
                return
            }
        }
    }

    @Test("H12.1, H3.9: every list is written, read again, and shorter for having been written before")
    func roundTrip() throws {
        let vectors = HPACKVectors.shared
        #expect(vectors.places.count == 3384)
        var encoder = HPACKEncoder()
        var reader = HPACKReader()
        var story = -1
        var (listBytes, blockBytes) = (0, 0)
        for place in vectors.places {
            if place.story != story {
                encoder = HPACKEncoder()
                reader = HPACKReader()
                story = place.story
            }
            let list = vectors.lists[place] ?? []
            let block = encoder.block(list)
            let fields = try reader.read(block)
            guard fields == list else {
                Issue.record("story \(place.story), \(place.number): \(fields)")
                return
            }
            listBytes += list.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
            blockBytes += block.count
        }
        #expect(blockBytes * 3 < listBytes, "\(blockBytes) of \(listBytes)")
    }
}
