// A request's body that is supplied piece by piece, each after a pause. Its reader waits; when the request has ended
// before its body, the waiting ends too.

import Foundation
import Synchronization

/// A part of a body, and how long it is waited for.
struct BodyPiece: Sendable {
    let bytes: Data
    let delayInMilliseconds: Int
}

/// Where the pieces come from. Read by one thread, given up by another.
final class PieceSource: Sendable {
    private struct State {
        var pieces: ArraySlice<BodyPiece>
        /// What is left of the piece that is being read; nil before its pause.
        var current: Data?
        var isGivenUp = false

        mutating func take(_ most: Int) -> Part {
            if isGivenUp { return .givenUp }
            guard let bytes = current ?? pieces.popFirst()?.bytes else { return .end }
            let rest = bytes.dropFirst(most)
            current = rest.isEmpty ? nil : rest
            return bytes.isEmpty ? .emptyPiece : .bytes(bytes.prefix(most))
        }
    }

    private enum Part {
        case bytes(Data)
        case end
        case givenUp
        case emptyPiece
    }

    private let state: Mutex<State>
    private let end = DispatchSemaphore(value: 0)

    init(_ pieces: [BodyPiece]) {
        state = Mutex(State(pieces: pieces[...]))
    }

    /// Ends a read that waits, and all later ones.
    func giveUp() {
        state.withLock { $0.isGivenUp = true }
        end.signal()
    }

    var isGivenUp: Bool { state.withLock { $0.isGivenUp } }

    var isAtEnd: Bool { state.withLock { $0.isGivenUp || ($0.pieces.isEmpty && $0.current == nil) } }

    /// The next bytes, at most `most`: none at the end, nil when given up.
    func next(_ most: Int) -> Data? {
        while true {
            let pause = state.withLock { state in
                state.isGivenUp || state.current != nil ? nil : state.pieces.first?.delayInMilliseconds
            }
            if let pause, pause > 0 { _ = end.wait(timeout: .now() + .milliseconds(pause)) }
            switch state.withLock({ $0.take(most) }) {
            case .bytes(let bytes): return bytes
            case .end: return Data()
            case .givenUp: return nil
            // No bytes would mean the end, so a piece without any is a pause and nothing else.
            case .emptyPiece: continue
            }
        }
    }
}

/// The stream that the package reads.
final class PieceStream: InputStream {
    private let source: PieceSource
    private var status = Stream.Status.notOpen

    init(_ source: PieceSource) {
        self.source = source
        super.init(data: Data())
    }

    override func open() {
        status = .open
    }

    override func close() {
        status = .closed
    }

    override var streamStatus: Stream.Status {
        if source.isGivenUp { return .error }
        return status == .open && source.isAtEnd ? .atEnd : status
    }

    override var streamError: (any Error)? {
        source.isGivenUp ? CocoaError(.userCancelled) : nil
    }

    override var hasBytesAvailable: Bool { !source.isAtEnd }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        guard let bytes = source.next(length) else { return -1 }
        bytes.copyBytes(to: buffer, count: bytes.count)
        return bytes.count
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool {
        false
    }
}
