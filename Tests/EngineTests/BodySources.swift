// Bodies for engine tests: a source that is played by hand or by script, and files that change while they are read.

import Foundation
import Testing
import URLLoadingEngine
import URLLoadingSystem
import URLLoadingTestSupport

/// A source that answers from a list at once, and beyond it when the test says so.
final class ScriptedSource: BodySource {
    private struct State {
        var pieces: [SourcePiece]
        var waiting: (@Sendable (SourcePiece) -> Void)?
        var asked = 0
        var isClosed = false
    }

    private let state: Guarded<State>

    init(_ pieces: [SourcePiece] = []) {
        state = Guarded(State(pieces: pieces))
    }

    /// Pieces of text, and then the end.
    convenience init(texts: String...) {
        self.init(texts.map { .bytes(Array($0.utf8)) } + [.end])
    }

    var asked: Int { state.withLock { $0.asked } }
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Supplies one more piece.
    func supply(_ piece: SourcePiece) {
        let answer = state.withLock { state in
            defer { state.waiting = nil }
            if state.waiting == nil { state.pieces.append(piece) }
            return state.waiting
        }
        answer?(piece)
    }

    func supply(_ text: String) { supply(.bytes(Array(text.utf8))) }

    func next(_ answer: @escaping @Sendable (SourcePiece) -> Void) {
        let piece = state.withLock { state -> SourcePiece? in
            state.asked += 1
            guard !state.pieces.isEmpty else {
                state.waiting = answer
                return nil
            }
            return state.pieces.removeFirst()
        }
        if let piece { answer(piece) }
    }

    func close() {
        state.withLock { state in
            state.isClosed = true
            state.waiting = nil
        }
    }
}

/// A file that lives as long as the test.
final class ScratchFile {
    let path: String
    let bytes: [UInt8]

    init(count: Int) throws {
        path = NSTemporaryDirectory() + "urlloading-upload-" + UUID().uuidString
        bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    func open() throws -> OpenFile { try OpenFile.open(path: path).get() }

    func truncate(to count: Int) {
        #expect(Foundation.truncate(path, count) == 0)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
