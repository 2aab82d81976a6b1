// The forms in bytes of what was measured. The order of the parts is the format; a change of it counts up
// `TransferLimits.version` and `TransferLimits.recordVersion`.

import URLLoadingEngine
import URLLoadingPolicy

extension TransferMeasures: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(exchanges)
        writer.value(redirects)
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        self.init(exchanges: try reader.value(), redirects: try reader.value())
    }
}

extension TransferExchange: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(request)
        writer.value(head)
        writer.value(times)
        writer.value(isReused)
        writer.value(usesProxy)
        writer.number(spoken.rawValue)
        // A number beyond those of sources: a reader that does not know the bit knows no such source.
        writer.value(isTold ? source | Self.toldBit : source & ~Self.toldBit)
        writer.value(local)
        writer.value(remote)
        writer.value(tls)
        writer.value(counts)
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        self.init(try reader.value())
        head = try reader.value()
        times = try reader.value()
        isReused = try reader.value()
        usesProxy = try reader.value()
        guard let spoken = SpokenProtocol(rawValue: try reader.number()) else { throw .impossible }
        self.spoken = spoken
        source = try reader.value()
        isTold = source & Self.toldBit != 0
        source &= ~Self.toldBit
        local = try reader.value()
        remote = try reader.value()
        tls = try reader.value()
        counts = try reader.value()
    }

    private static let toldBit: UInt32 = 1 << 31
}

extension TransferExchange.Times: TransferCoded {
    func write(to writer: inout ByteWriter) {
        for step in Self.steps { writer.value(self[keyPath: step]) }
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        self.init()
        for step in Self.steps { self[keyPath: step] = try reader.value() }
    }

    /// In the order in which they happen.
    private static var steps: [WritableKeyPath<Self, Int64?>] {
        [
            \.fetchStart, \.lookupStart, \.lookupEnd, \.connectStart, \.secureStart, \.secureEnd, \.connectEnd,
            \.requestStart, \.requestEnd, \.responseStart, \.responseEnd,
        ]
    }
}

extension TransferExchange.Address: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(host)
        writer.value(port)
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        self.init(host: try reader.value(), port: try reader.value())
    }
}

extension TransferExchange.TLS: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(version)
        writer.value(cipher)
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        self.init(version: try reader.value(), cipher: try reader.value())
    }
}

extension TransferExchange.Counts: TransferCoded {
    func write(to writer: inout ByteWriter) {
        for count in Self.counts { writer.value(self[keyPath: count]) }
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        self.init()
        for count in Self.counts {
            let value: Int64 = try reader.value()
            guard value >= 0 else { throw .impossible }
            self[keyPath: count] = value
        }
    }

    private static var counts: [WritableKeyPath<Self, Int64>] {
        [\.requestHead, \.requestBody, \.responseHead, \.responseBody, \.responseBodyDecoded]
    }
}
