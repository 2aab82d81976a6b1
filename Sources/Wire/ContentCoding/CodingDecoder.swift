// What undoes one coding, whichever it is: one list of the decoders, so that a chain needs to know no library.

/// A resumable decoder of one coding.
enum CodingDecoder: ~Copyable {
    case inflater(Inflater)
    case brotli(BrotliDecoder)
    case zstandard(ZstandardDecoder)
    /// The codings are not undone.
    case refusal(CodingRefusal)

    /// Makes a decoder; the memory that it works in is taken when the first byte comes.
    init(_ coding: ContentCoding) {
        switch coding {
        case .gzip: self = .inflater(Inflater(.gzip))
        case .deflate: self = .inflater(Inflater(.deflate))
        case .brotli(let library): self = .brotli(BrotliDecoder(library))
        case .zstandard(let library): self = .zstandard(ZstandardDecoder(library))
        }
    }

    private init(_ other: consuming CodingDecoder) {
        self = other
    }

    /// Decodes from `input` at `offset` into `output` and returns how many bytes it wrote.
    ///
    /// If they are fewer than `output` holds, all input was used, or `failure` says why not.
    mutating func decode(
        _ input: UnsafeRawBufferPointer, offset: inout Int, into output: UnsafeMutableRawBufferPointer
    ) -> Int {
        switch consume self {
        case .inflater(var decoder):
            let produced = decoder.decode(input, offset: &offset, into: output)
            self = .init(.inflater(decoder))
            return produced
        case .brotli(var decoder):
            let produced = decoder.decode(input, offset: &offset, into: output)
            self = .init(.brotli(decoder))
            return produced
        case .zstandard(var decoder):
            let produced = decoder.decode(input, offset: &offset, into: output)
            self = .init(.zstandard(decoder))
            return produced
        case .refusal(var refusal):
            if offset < input.count { refusal.begin() }
            self = .init(.refusal(refusal))
            return 0
        }
    }

    /// Why decoding stopped, nil while it goes on.
    var failure: WireError? {
        switch self {
        case .inflater(let decoder): decoder.failure
        case .brotli(let decoder): decoder.failure
        case .zstandard(let decoder): decoder.failure
        case .refusal(let refusal): refusal.failure
        }
    }

    /// The input is over: the error that makes the content incomplete or wrong, nil if it is neither.
    func finish() -> WireError? {
        switch self {
        case .inflater(let decoder): decoder.finish()
        case .brotli(let decoder): decoder.finish()
        case .zstandard(let decoder): decoder.finish()
        // B16.58: a body without bytes is no error.
        case .refusal: nil
        }
    }
}

/// Fails with the first byte that comes.
struct CodingRefusal {
    private let error: WireError
    private(set) var failure: WireError?

    init(_ error: WireError) { self.error = error }

    /// A byte has come.
    mutating func begin() { failure = error }
}
