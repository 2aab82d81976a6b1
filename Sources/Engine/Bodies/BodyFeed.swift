// Gives a connection the content of one request, in the order and the framing in which it is sent: for bodies that do
// not leave together with their head.
//
// Back-pressure: a source is asked for a piece when the one before is handed out, never earlier. RFC 9112 §6, §7.1.
//
// Must not know: connections, TLS, which object supplies the content.

import URLLoadingSystem
import URLLoadingWire

/// Content on its way out; belongs to one transaction's loop.
final class BodyFeed {
    /// What is to be sent next.
    enum Step {
        /// Framing, content, and how many bytes at the content's end are framing too.
        case bytes(framing: [UInt8], content: [UInt8], trailingFraming: Int)
        /// All of these bytes.
        case whole(any BodyBytes)
        /// A part of a file; `sent` tells how much of it is out.
        case file(OpenFile, at: Int64, count: Int)
        /// Nothing yet; the transaction hears when there is.
        case wait
        /// Everything has been handed out.
        case end
        /// Everything has been handed out but these fields, which the connection's protocol has a way for.
        case trailers(Fields)
        case failed(BodyFailure)
    }

    private enum Content {
        case bytes(any BodyBytes)
        case file(OpenFile, from: Int64)
        case stream(any BodySource)
    }

    private let content: Content
    /// The announced length; `nil` means chunks, or nothing but the content where the connection's end is its end.
    private let length: Int64?
    /// Whether the body goes in chunks. The next attempt may speak another protocol, which frames bodies itself.
    var isChunked: Bool
    private let deliver: @Sendable (SourcePiece) -> Void
    /// Bytes of the content that were handed out.
    private var given: Int64 = 0
    private var ready: SourcePiece?
    private var isAsking = false
    private var hasEnded = false

    /// Makes a feed; `nil` where there is no content. Pieces that come later go through `deliver`, from any thread, and
    /// from there to `arrived`.
    init?(_ body: RequestBody, framing: BodyFraming, deliver: @escaping @Sendable (SourcePiece) -> Void) {
        switch body {
        case .none: return nil
        case .bytes(let bytes): content = .bytes(bytes)
        case .file(let file): content = .file(file, from: 0)
        case .section(let file, let start, _): content = .file(file, from: start)
        case .stream(let source): content = .stream(source)
        }
        length =
            switch framing {
            case .length(let length): length
            case .none: 0
            case .chunked, .untilClose: nil
            }
        isChunked = framing == .chunked
        self.deliver = deliver
    }

    // MARK: Questions

    /// Whether the sending can begin anew: nothing was handed out that its source gives only once (B6.26).
    var canStartAgain: Bool {
        if case .stream = content { given == 0 && !hasEnded } else { true }
    }

    /// Whether the next piece was asked for and is not there yet.
    var isWaiting: Bool { isAsking && ready == nil }

    // MARK: What the connection asks

    /// What comes next.
    func next() -> Step {
        if hasEnded { return .end }
        switch content {
        case .bytes(let bytes):
            hasEnded = true
            given = Int64(bytes.count)
            return bytes.count == 0 ? .end : .whole(bytes)
        case .file(let file, let start):
            if let piece = takeReady() { return step(piece) }
            if isAsking { return .wait }
            let left = (length ?? file.byteCount - start) - given
            return left > 0 ? .file(file, at: start + given, count: Int(min(left, Self.mostOfFile))) : end()
        case .stream:
            // It is not asked whether there is more: its producer may end it only when it has the answer (B5.29).
            if let length, given >= length { return end() }
            guard let piece = takeReady() else {
                ask()
                return .wait
            }
            return step(piece)
        }
    }

    /// So much of the last `file` step is out.
    func sent(_ count: Int) {
        given += Int64(count)
    }

    /// The file's next bytes are not in memory: they are read where waiting does no harm.
    func readFile(_ file: OpenFile, at offset: Int64, count: Int) {
        isAsking = true
        let size = min(count, Self.filePiece)
        let read: @Sendable () -> Void = { [deliver] in
            var failure: FileReadFailure?
            let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
                switch file.read(at: offset, into: UnsafeMutableRawBufferPointer(buffer)) {
                case .success(let count): filled = count
                case .failure(let error): failure = error
                }
            }
            deliver(failure.map { .failed($0) } ?? .bytes(bytes))
        }
        if !BlockingPool.files.run(read) { read() }
    }

    /// The end of a file came too early, or it could not be read.
    func failure(_ cause: FileReadFailure) -> BodyFailure {
        switch cause {
        case .ended: .endedEarly(given: given, announced: length ?? given)
        case .failed(let error): .unreadable(error)
        }
    }

    /// What was asked for has come.
    func arrived(_ piece: SourcePiece) {
        guard isAsking, !hasEnded else { return }
        isAsking = false
        ready = piece
    }

    /// Nothing more is wanted.
    func close() {
        hasEnded = true
        ready = nil
        if case .stream(let source) = content { source.close() }
    }

    // MARK: Private steps

    private func takeReady() -> SourcePiece? {
        defer { ready = nil }
        return ready
    }

    private func ask() {
        guard !isAsking, case .stream(let source) = content else { return }
        isAsking = true
        source.next(deliver)
    }

    private func step(_ piece: SourcePiece) -> Step {
        switch piece {
        case .bytes(let bytes):
            return length.map { counted(bytes, upTo: $0) } ?? chunk(bytes)
        case .end:
            if let length { return .failed(.endedEarly(given: given, announced: length)) }
            close()
            guard isChunked else { return .end }
            return .bytes(framing: RequestEncoder.lastChunk, content: [], trailingFraming: 0)
        case .trailers(let fields):
            if let length { return .failed(.endedEarly(given: given, announced: length)) }
            return ended(with: fields)
        case .failed(let error):
            return .failed((error as? FileReadFailure).map(failure) ?? .source(error))
        }
    }

    /// A piece of a body of known length. One that goes beyond is not sent at all: what was cut off would be taken for
    /// the whole (B5.29).
    private func counted(_ bytes: [UInt8], upTo length: Int64) -> Step {
        guard Int64(bytes.count) <= length - given else { return .failed(.goesBeyond(announced: length)) }
        given += Int64(bytes.count)
        if given < length { ask() }
        return .bytes(framing: [], content: bytes, trailingFraming: 0)
    }

    private func chunk(_ bytes: [UInt8]) -> Step {
        guard isChunked else {
            given += Int64(bytes.count)
            ask()
            return .bytes(framing: [], content: bytes, trailingFraming: 0)
        }
        var header: [UInt8] = []
        RequestEncoder.encodeChunkHeader(size: bytes.count, into: &header)
        given += Int64(bytes.count)
        ask()
        // With its own end, so that the server has the whole chunk although the next may be long in coming.
        return .bytes(
            framing: header, content: bytes + RequestEncoder.chunkTrailer,
            trailingFraming: RequestEncoder.chunkTrailer.count)
    }

    private func ended(with trailers: Fields) -> Step {
        close()
        guard isChunked else { return .trailers(trailers) }
        var last: [UInt8] = []
        do throws(WireError) {
            try RequestEncoder.encodeLastChunk(trailers, into: &last)
        } catch {
            return .failed(.source(error))
        }
        return .bytes(framing: last, content: [], trailingFraming: 0)
    }

    private func end() -> Step {
        close()
        return .end
    }

    /// A system call's worth; the socket usually takes less.
    private static let mostOfFile: Int64 = 1 << 30
    /// What is read of a file at once where it has to be waited for.
    private static let filePiece = 256 * 1024

    /// How long a body waits for the server's permission before it is sent all the same (B5.40).
    static var longestWaitForPermission: Duration { .seconds(1) }
}
