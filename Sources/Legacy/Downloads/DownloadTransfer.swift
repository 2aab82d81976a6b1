// What a download knows of its file: where it goes, what is written to it, and what becomes of it at the end.
//
// Must not know: delegates, the task.

import Foundation
import Synchronization
import URLLoading

/// The file side of one download.
final class DownloadTransfer: Sendable {
    /// Where an earlier download has stopped.
    private let point: ResumePoint?
    private let state: Mutex<State>

    private struct State: Sendable {
        var destination: Destination?
        var file: DestinationFile?
        var decoder: SourceDecoder?
        /// The response that is being saved, and the request that it answers.
        var response: URLResponse?
        var request: URLRequest?
        var deletesUponFailure = true
        var resumeData: Data?
        var isSettled = false
        /// How many bytes were there when the first request was sent.
        var begun: Int64 = 0
        /// Where the rest that is coming has to end: behind the last byte of its range.
        var end: Int64?
    }

    private struct Destination: Sendable {
        let path: String
        let allowsOverwrite: Bool
    }

    /// A download to a place that is still to be said.
    init() {
        point = nil
        state = Mutex(State())
    }

    /// A download that goes on from a point, in the file at `path`.
    init(_ point: ResumePoint?, path: String) {
        self.point = point
        state = Mutex(State(destination: Destination(path: path, allowsOverwrite: true)))
    }

    var deletesUponFailure: Bool {
        get { state.withLock { $0.deletesUponFailure } }
        set { state.withLock { $0.deletesUponFailure = newValue } }
    }

    /// What is needed to go on, once the download has failed or was cancelled and has left its file.
    var resumeData: Data? { state.withLock { $0.resumeData } }

    // MARK: The place

    /// Says where the file goes; without effect once it is there.
    func setDestination(_ path: String, allowsOverwrite: Bool) {
        state.withLock { state in
            guard state.file == nil, point == nil else { return }
            state.destination = Destination(path: path, allowsOverwrite: allowsOverwrite)
        }
    }

    var hasDestination: Bool { state.withLock { $0.destination != nil } }

    /// The first request, as it goes out.
    func prepared(_ request: URLRequest) -> URLRequest {
        var request = request
        // What is counted and gone on from are the bytes of the file itself.
        if request.value(forHTTPHeaderField: "Accept-Encoding") == nil {
            request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        }
        guard let point, let path = state.withLock({ $0.destination?.path }),
            let length = DestinationFile.length(of: path), length > 0
        else { return request }
        let begun = min(length, point.received)
        state.withLock { $0.begun = begun }
        return point.ask(request, behind: begun)
    }

    // MARK: The file

    /// What a response means for the file, and from which byte on.
    func meaning(of response: URLResponse, to request: URLRequest) -> (ResumePoint.Answer, Int64) {
        let begun = state.withLock { $0.begun }
        let answer: ResumePoint.Answer =
            begun == 0 ? .beginsAnew : point?.meaning(of: response, behind: begun) ?? .beginsAnew
        let end: Int64? = if case .goesOn(let end) = answer { end } else { nil }
        state.withLock { state in
            state.response = response
            state.request = request
            state.end = end
        }
        return (answer, begun)
    }

    /// Makes the file; gives the path that it got.
    func makeFile(named name: String, decodes: Bool) throws -> String {
        let (destination, old) = state.withLock { ($0.destination, $0.file) }
        // A response that comes after another begins the same file anew.
        if let old {
            try adopt(DestinationFile.open(old.path, keeping: 0), decodes: decodes, isMade: true)
            return old.path
        }
        let path = destination?.path ?? Self.usualFolder.appendingPathComponent(name).path
        let file = try DestinationFile.create(path, allowsOverwrite: destination?.allowsOverwrite ?? false)
        adopt(file, decodes: decodes, isMade: true)
        return file.path
    }

    /// Goes on in the file that is there.
    func reopenFile() throws {
        let (path, begun) = state.withLock { ($0.destination?.path, $0.begun) }
        if let path { adopt(try DestinationFile.open(path, keeping: begun), decodes: false, isMade: false) }
    }

    /// `isMade`: nothing of an earlier download is in it.
    private func adopt(_ file: DestinationFile, decodes: Bool, isMade: Bool) {
        let decoder = decodes ? SourceDecoder() : nil
        let (isLate, deletes) = state.withLock { state in
            state.file = state.isSettled ? nil : file
            state.decoder = decoder
            return (state.isSettled, state.deletesUponFailure)
        }
        // Cancelled while the file was made.
        if isLate, deletes, isMade { file.remove() }
    }

    /// Whether what comes is written anywhere.
    var isWriting: Bool { state.withLock { $0.file != nil } }

    /// Writes a piece of the body.
    func write(_ piece: Data) throws {
        let (file, decoder) = state.withLock { ($0.file, $0.decoder) }
        guard let file else { return }
        if let decoder { try decoder.decode(piece) { try file.append($0) } } else { try file.append(piece) }
    }

    /// The body is whole: so must the file be. The rest of one must have come up to the end of its range, and no
    /// further (B9.28).
    func close() throws {
        let (file, decoder, end, url) = state.withLock { ($0.file, $0.decoder, $0.end, $0.request?.url) }
        try decoder?.finish()
        try file?.close()
        guard let length = file?.length, let end, length != end else { return }
        throw length < end
            ? LegacyFailure.make(.networkConnectionLost, url, "The rest of the file has ended before its range.")
            : LegacyFailure.make(.cannotParseResponse, url, "The rest of the file is longer than its range.")
    }

    // MARK: The end

    /// The file is the program's now.
    func finish() {
        state.withLock { $0.isSettled = true }
    }

    /// The download is given up: the file goes, or what is needed to go on is kept. A file of an earlier download that
    /// this one has not come to open stays, and so does what is needed to go on with it.
    func giveUp() {
        let (file, deletes, point) = state.withLock { state in
            defer { state.isSettled = true }
            return (state.isSettled ? nil : state.file, state.deletesUponFailure, gettingOn(state))
        }
        if deletes, let file { return file.remove() }
        try? file?.close()
        state.withLock { $0.resumeData = point?.data }
    }

    /// Where another download could go on.
    private func gettingOn(_ state: borrowing State) -> ResumePoint? {
        guard let file = state.file else { return point }
        guard state.decoder == nil, let request = state.request else { return nil }
        // What is behind the end of the range is no part of the file.
        if let end = state.end, file.length > end { return nil }
        // A part that the program has asked for itself: the file's first byte is not that of the whole.
        if state.end == nil, (state.response as? HTTPURLResponse)?.statusCode == 206 { return nil }
        return ResumePoint(
            request, state.response, received: file.length, asked: state.begun > 0 ? point : nil)
    }

    /// The folder of files for which the program names none.
    private static var usualFolder: URL {
        let folder = FileManager.default.urls(for: .downloadsDirectory, in: .userDomainMask).first
        if let folder, (try? folder.checkResourceIsReachable()) == true { return folder }
        return FileManager.default.temporaryDirectory
    }
}
