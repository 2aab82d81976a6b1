// Undoes zstd with the system's Zstandard library, in the caller's memory and in pieces the caller chooses: any number
// of frames, those to be skipped too. It knows no message and has no dictionary. RFC 8878, RFC 9659.

import CURLLoadingCodings

/// A resumable decoder of frames of Zstandard.
struct ZstandardDecoder: ~Copyable {
    private enum Phase {
        /// No byte has come: an empty body is no error (B16.58).
        case untouched
        /// `isFull` says that the last piece filled its output, so that there may be more without more input.
        case decoding(isFull: Bool)
        /// A frame is complete, and these bytes of another one's beginning have come.
        case betweenFrames(begun: [UInt8])
        /// What follows the last frame is none, and is ignored (B16.57).
        case complete
        case failed
    }

    private let library: ZstandardLibrary
    private var phase = Phase.untouched
    /// The library's decoder, 0 until the first byte has come.
    private var decoder: UInt = 0

    /// Why decoding stopped, nil while it goes on.
    private(set) var failure: WireError?

    init(_ library: ZstandardLibrary) {
        self.library = library
    }

    deinit {
        if decoder != 0 { urlloading_zstandard_destroy(library.functions, decoder) }
    }

    /// Decodes from `input` at `offset` into `output` and returns how many bytes it wrote.
    ///
    /// If they are fewer than `output` holds, all input was used, or `failure` says why not.
    mutating func decode(
        _ input: UnsafeRawBufferPointer, offset: inout Int, into output: UnsafeMutableRawBufferPointer
    ) -> Int {
        var produced = 0
        while true {
            switch phase {
            case .untouched:
                guard offset < input.count else { return produced }
                begin(input[offset])
                offset += 1
            case .decoding(let isFull):
                // The library takes several calls that neither read nor write for a fault of its caller's.
                guard produced < output.count, isFull || offset < input.count else { return produced }
                decodePiece(input, &offset, output, &produced)
            case .betweenFrames(let begun):
                guard offset < input.count else { return produced }
                readBetweenFrames(input[offset], begun, &offset)
            case .complete, .failed:
                offset = input.count
                return produced
            }
        }
    }

    /// The input is over: the error that makes the content incomplete or wrong, nil if it is neither.
    func finish() -> WireError? {
        switch phase {
        case .untouched, .betweenFrames, .complete: nil
        case .decoding: .truncatedContent
        case .failed: failure
        }
    }

    /// The first byte goes in by itself. The library looks for a frame that is there from its first byte to its last,
    /// whose window it would not check, and for the forms that the format had before it was published: neither may
    /// depend on how the input is cut.
    private mutating func begin(_ first: UInt8) {
        decoder = urlloading_zstandard_create(library.functions, ZstandardDecoder.largestWindow)
        if decoder == 0 { return fail(.decoderOutOfMemory) }
        feed([first])
    }

    /// One call of the library.
    private mutating func decodePiece(
        _ input: UnsafeRawBufferPointer, _ offset: inout Int, _ output: UnsafeMutableRawBufferPointer,
        _ produced: inout Int
    ) {
        let result = urlloading_zstandard_decode(
            library.functions, decoder, input.baseAddress, input.count, &offset, output.baseAddress, output.count,
            &produced)
        let code = urlloading_zstandard_error(library.functions, result)
        if code != 0 {
            fail(ZstandardDecoder.fault(code))
        } else if result == 0 {
            phase = .betweenFrames(begun: [])
        } else {
            phase = .decoding(isFull: produced == output.count)
        }
    }

    /// Gives the library bytes of a frame's beginning, which produce nothing.
    private mutating func feed(_ bytes: [UInt8]) {
        phase = .decoding(isFull: false)
        var offset = 0
        var produced = 0
        var nothing: UInt8 = 0
        withUnsafeMutableBytes(of: &nothing) { nothing in
            bytes.withUnsafeBytes { decodePiece($0, &offset, nothing, &produced) }
        }
    }

    /// What follows a frame is another if it begins like one (RFC 8878 §3.1); else it is garbage (B16.57).
    private mutating func readBetweenFrames(_ byte: UInt8, _ begun: [UInt8], _ offset: inout Int) {
        guard ZstandardDecoder.isBeginning(begun, byte) else {
            phase = .complete
            return
        }
        offset += 1
        if begun.count + 1 == ZstandardDecoder.magic.count {
            feed(begun + [byte])
        } else {
            phase = .betweenFrames(begun: begun + [byte])
        }
    }

    /// Whether a frame, or one that is skipped, may begin with these bytes.
    private static func isBeginning(_ begun: [UInt8], _ byte: UInt8) -> Bool {
        guard let first = begun.first else { return byte == magic[0] || byte & 0xF0 == skippableMagic[0] }
        return byte == (first == magic[0] ? magic : skippableMagic)[begun.count]
    }

    /// What the library's number for a fault means.
    private static func fault(_ code: Int32) -> WireError {
        switch Int(code) {
        case urlloading_zstandard_window_too_large: .contentWindowTooLarge
        case urlloading_zstandard_checksum_wrong: .contentChecksumMismatch
        case urlloading_zstandard_dictionary_wrong: .contentNeedsDictionary
        case urlloading_zstandard_no_memory: .decoderOutOfMemory
        default: .corruptContent
        }
    }

    private mutating func fail(_ error: WireError) {
        failure = error
        phase = .failed
    }

    private static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
    /// The first byte's lower half may be anything.
    private static let skippableMagic: [UInt8] = [0x50, 0x2A, 0x4D, 0x18]

    /// 8 MiB, as a power of two: no server may send more under this coding (RFC 9659 §3).
    private static var largestWindow: Int32 { 23 }
}
