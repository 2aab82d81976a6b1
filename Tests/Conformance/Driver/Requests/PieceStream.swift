// A request's body that is supplied piece by piece, each after a pause. Whoever reads it waits; when the request has
// ended before its body, the waiting ends too.

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

    /// The next bytes, at most `most`: nothing at the end, nil when given up.
    func next(_ most: Int) -> Data? {
        while true {
            let pause = state.withLock { state -> Int? in
                guard !state.isGivenUp, state.current == nil else { return nil }
                return state.pieces.first?.delayInMilliseconds
            }
            if let pause, pause > 0 { _ = end.wait(timeout: .now() + .milliseconds(pause)) }
            let part = state.withLock { state -> Data?? in
                if state.isGivenUp { return .some(nil) }
                guard let data = state.current ?? state.pieces.popFirst()?.bytes else { return Data() }
                let part = data.prefix(most)
                let rest = data.dropFirst(part.count)
                state.current = rest.isEmpty ? nil : rest
                // An empty piece is a pause and nothing else: no bytes would mean the end.
                return part.isEmpty ? nil : part
            }
            if let part { return part }
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
