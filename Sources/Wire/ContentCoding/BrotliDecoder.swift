// Undoes br with the system's Brotli library, in the caller's memory and in pieces the caller chooses. The library
// keeps what it has decoded and not yet given away, at most a window of 16 MiB. It knows no message. RFC 7932.

import CURLLoadingCodings

/// A resumable decoder of one stream of Brotli.
struct BrotliDecoder: ~Copyable {
    private enum Phase {
        /// No byte has come: an empty body is no error (B16.58).
        case untouched
        /// `isFull` says that the last piece filled its output, so that there may be more without more input.
        case decoding(isFull: Bool)
        /// The stream is complete; what follows is ignored (B16.57).
        case complete
        case failed
    }

    private let library: BrotliLibrary
    private var phase = Phase.untouched
    /// The library's decoder, 0 until the first byte has come.
    private var decoder: UInt = 0

    /// Why decoding stopped, nil while it goes on.
    private(set) var failure: WireError?

    init(_ library: BrotliLibrary) {
        self.library = library
    }

    deinit {
        if decoder != 0 { urlloading_brotli_destroy(library.functions, decoder) }
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
                begin()
            case .decoding(let isFull):
                guard produced < output.count, isFull || offset < input.count else { return produced }
                decodePiece(input, &offset, output, &produced)
            case .complete, .failed:
                offset = input.count
                return produced
            }
        }
    }

    /// The input is over: the error that makes the content incomplete or wrong, nil if it is neither.
    func finish() -> WireError? {
        switch phase {
        case .untouched, .complete: nil
        case .decoding: .truncatedContent
        case .failed: failure
        }
    }

    private mutating func begin() {
        decoder = urlloading_brotli_create(library.functions)
        if decoder == 0 { return fail(.decoderOutOfMemory) }
        phase = .decoding(isFull: false)
    }

    /// One call of the library.
    private mutating func decodePiece(
        _ input: UnsafeRawBufferPointer, _ offset: inout Int, _ output: UnsafeMutableRawBufferPointer,
        _ produced: inout Int
    ) {
        var unread = input.count - offset
        var room = output.count - produced
        let result = urlloading_brotli_decode(
            library.functions, decoder, input.baseAddress?.advanced(by: offset), &unread,
            output.baseAddress?.advanced(by: produced), &room)
        offset = input.count - unread
        produced = output.count - room
        switch Int(result) {
        case urlloading_brotli_complete: phase = .complete
        case urlloading_brotli_failed: fail(fault)
        default: phase = .decoding(isFull: room == 0)
        }
    }

    /// What the library found wrong.
    private var fault: WireError {
        let code = Int(urlloading_brotli_error(library.functions, decoder))
        let isMemory = urlloading_brotli_last_memory_error <= code && code <= urlloading_brotli_first_memory_error
        return isMemory ? .decoderOutOfMemory : .corruptContent
    }

    private mutating func fail(_ error: WireError) {
        failure = error
        phase = .failed
    }
}
