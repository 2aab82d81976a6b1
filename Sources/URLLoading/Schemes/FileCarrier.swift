// Reads `file:` URLs on threads that may wait for the disk, a piece at a time; a slow receiver stops the reading
// (behaviour 14.2).
//
// Must not know: where the bytes go.

import Foundation
import Synchronization
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

/// Delivers a file.
final class FileCarrier: SchemeCarrier {
    private struct State: Sendable {
        var load: SchemeLoad?
        var file: OpenFile?
        var offset: Int64 = 0
        /// How far it is read; nil for a file that does not say its length, which is read as far as there is something.
        var end: Int64?
        /// Whether a thread reads, or is about to.
        var isReading = false
        var hasRoom = true
    }

    private let state = Mutex(State())

    func start(_ request: URLRequest, _ load: SchemeLoad) {
        guard let url = request.url else { return load.failed(LoadFailure.unsupportedURL(nil, "There is no URL.")) }
        guard let path = Self.path(of: url) else { return load.failed(LoadFailure.fileElsewhere(url)) }
        state.withLock { state in
            state.load = load
            state.isReading = true
        }
        BlockingLane.files.run { [self] in open(path, url) }
    }

    func resumeReading() {
        let mustRead = state.withLock { state in
            state.hasRoom = true
            guard state.file != nil, !state.isReading else { return false }
            state.isReading = true
            return true
        }
        if mustRead { BlockingLane.files.run { [self] in read() } }
    }

    func stop() {
        state.withLock { state in
            state.load = nil
            state.file = nil
        }
    }

    /// Whether a file URL names no other host.
    static func isOfThisMachine(_ url: URL) -> Bool {
        let host = url.host(percentEncoded: false) ?? ""
        return host.isEmpty || host.lowercased() == "localhost"
    }

    /// B14.8; nil also where the path cannot be one.
    private static func path(of url: URL) -> String? {
        guard isOfThisMachine(url) else { return nil }
        let path = url.path(percentEncoded: false)
        return path.isEmpty || path.utf8.contains(0) ? nil : path
    }

    // MARK: On a thread that may wait

    private func open(_ path: String, _ url: URL) {
        guard let load = state.withLock({ $0.load }) else { return }
        switch OpenFile.open(path: path) {
        case .success(let file):
            let end = file.saysItsLength ? file.byteCount : nil
            state.withLock { state in
                guard state.load != nil else { return }
                state.file = file
                state.end = end
            }
            load.received(
                URLResponse(
                    url: url, mimeType: FileTypes.mimeType(ofPath: path),
                    expectedContentLength: end.map { Int(clamping: $0) } ?? -1, textEncodingName: nil))
            read()
        case .failure(let error):
            load.failed(ErrorMapping.unreadableFile(url, error))
        }
    }

    private func read() {
        for _ in 0..<Self.piecesInARow {
            guard readPiece() else { return }
        }
        // Others wait for the thread too.
        BlockingLane.files.run { [self] in read() }
    }

    /// Whether there is more to read at once.
    private func readPiece() -> Bool {
        let next = state.withLock { state -> (SchemeLoad, OpenFile, Int64, Int64?)? in
            guard state.hasRoom, let load = state.load, let file = state.file else {
                state.isReading = false
                return nil
            }
            return (load, file, state.offset, state.end)
        }
        guard let (load, file, offset, end) = next else { return false }
        let rest = end.map { $0 - offset } ?? .max
        guard rest > 0 else {
            load.finished()
            return false
        }
        var bytes = Data(count: Int(min(Int64(Self.pieceSize), rest)))
        let result = bytes.withUnsafeMutableBytes { file.read(at: offset, into: $0) }
        switch result {
        case .success(let count):
            state.withLock { state in
                state.offset += Int64(count)
                // Order: before the report, whose receiver may ask for more at once.
                state.hasRoom = false
            }
            if case .pause = load.received(body: bytes.prefix(count)) { return true }
            state.withLock { $0.hasRoom = true }
            return true
        case .failure(.ended) where end == nil:
            load.finished()
        case .failure(.ended):
            load.failed(
                LoadFailure.make(
                    .cannotOpenFile, load.request.url, "The file has become shorter while it was being read."))
        case .failure(.failed(let error)):
            load.failed(
                LoadFailure.make(
                    .cannotOpenFile, load.request.url, "The file could not be read: \(error)",
                    underlying: UnderlyingError.system(error)))
        }
        return false
    }

    /// As the pieces of a body from the network.
    private static let pieceSize = 256 * 1024
    /// Picked by feel: this much in a row of one file, then the next file's.
    private static let piecesInARow = 16
}

extension LoadFailure {
    /// A file URL that names no file here (B14.8).
    static func fileElsewhere(_ url: URL) -> URLError {
        badURL(url, "A file URL names a file of this machine, with no host or \"localhost\".")
    }
}
