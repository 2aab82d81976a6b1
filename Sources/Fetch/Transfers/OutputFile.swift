// A body that becomes a file: written beside its place as NAME.part and put there in one step when it is whole. What
// broke off stays with a note of its version (NAME.part.note), and only then can a later run go on with it.

import Foundation
import Synchronization
import URLLoading

/// Writes a file.
final class OutputFile: Sink {
    private struct State {
        /// Where the file shall be; nil until the server has named it.
        var place: OutputPlace?
        var part: PartFile?
        var note: ResumeNote?
        /// Bytes that are there, those of earlier runs included.
        var length: Int64 = 0
        var offset: Int64 = 0
        /// How many bytes there must be in the end, where the last answer was a part.
        var wholeLength: Int64?
        /// Whether an answer has been taken, so that what is there is of this run.
        var hasBegun = false
        /// Whether the answer's body only says that there is nothing left to send.
        var isWhole = false
        /// When the answer says that it has changed last.
        var changed: Date?
        /// How long the reader of a pipe is waited for.
        var patience: Patience
    }

    private let url: URL
    private let resumption: Resumption?
    private let isPlainGET: Bool
    private let folder: String?
    private let keepsTime: Bool
    private let explain: @Sendable (String) -> Void
    private let state: Mutex<State>

    /// Opens the file, so that one that cannot be written is known before anything is asked for. Without a place the
    /// server names it, and it goes into the folder. `explain` hears why a download does not go on.
    init(
        _ place: OutputPlace?, folder: String?, url: URL, resumption: Resumption?, isPlainGET: Bool, keepsTime: Bool,
        _ patience: Patience, explain: @escaping @Sendable (String) -> Void
    ) throws(FetchError) {
        self.url = url
        self.resumption = resumption
        self.isPlainGET = isPlainGET
        self.folder = folder
        self.keepsTime = keepsTime
        self.explain = explain
        var state = State(patience: patience)
        if let place { try Self.open(place, resumption, url, &state, explain) }
        self.state = Mutex(state)
    }

    var path: String? { state.withLock { $0.place?.name } }

    var offset: Int64 { state.withLock { $0.offset } }

    /// A broken download is gone on with where its version is known, and begun anew where not; but one that goes on by
    /// the user's word has no second try.
    var canTryAgain: Bool {
        state.withLock { !$0.hasBegun || $0.part?.isSpecial == false && !Self.isExplicit(resumption) }
    }

    func prepare(_ request: inout URLRequest, _ patience: Patience) throws(FetchError) {
        let (offset, note) = state.withLock { state -> (Int64, ResumeNote?) in
            state.patience = patience
            state.offset = state.note != nil || Self.isExplicit(resumption) ? state.length : 0
            return (state.offset, state.note)
        }
        guard offset > 0 else { return }
        request.setValue("bytes=\(offset)-", forHTTPHeaderField: "Range")
        if let note { request.setValue(note.validator, forHTTPHeaderField: "If-Range") }
    }

    func begin(_ response: URLResponse, head: String?) throws(FetchError) {
        try withState { (state) throws(FetchError) in
            if state.place == nil {
                let place = OutputPlace(try OutputName.unused(response.suggestedFilename, in: folder))
                try Self.open(place, nil, url, &state, isNew: true, explain)
            }
            if keepsTime, let response = response as? HTTPURLResponse {
                state.changed = response.value(forHTTPHeaderField: "Last-Modified").flatMap(HTTPDate.read)
            }
            guard let part = state.part else { return }
            state.wholeLength = nil
            if state.offset > 0 {
                guard let response = response as? HTTPURLResponse else {
                    throw FetchError(
                        .cannotResume,
                        "only http can be asked for the rest: \(state.place?.path ?? "the file") is as it was")
                }
                try goOn(response, &state)
            } else {
                try part.empty()
                state.length = 0
            }
            state.hasBegun = true
            if let head {
                try part.append(Data(head.utf8), state.patience)
                state.length += Int64(head.utf8.count)
            }
            takeNote(of: response, hasHead: head != nil, &state)
        }
    }

    func write(_ data: Data) throws(FetchError) {
        try withState { (state) throws(FetchError) in
            if state.isWhole { return }
            try state.part?.append(data, state.patience)
            state.length += Int64(data.count)
        }
    }

    func finish() throws(FetchError) {
        try withState { (state) throws(FetchError) in
            guard let part = state.part, let place = state.place else { return }
            // A server may send less than was asked for (RFC 9110 §15.3.7): the rest of it is still to be had.
            if let whole = state.wholeLength, state.length < whole { throw Self.brokenOff(state.length, of: whole) }
            if let changed = state.changed { part.setTime(changed) }
            try part.finish(at: place)
            unlink(place.note)
            state.part = nil
        }
    }

    func fail() -> String? {
        state.withLock { state in
            guard let part = state.part, let place = state.place else { return nil }
            defer { state.part = nil }
            if part.isSpecial || Self.isExplicit(resumption) { return nil }
            if state.length > 0, state.note != nil {
                return "\(QuantityText.bytes(state.length)) are kept in \(place.part): -C - goes on with them"
            }
            part.remove(place.part)
            unlink(place.note)
            return nil
        }
    }

    // MARK: Parts

    private static func open(
        _ place: OutputPlace, _ resumption: Resumption?, _ url: URL, _ state: inout State, isNew: Bool = false,
        _ explain: (String) -> Void
    ) throws(FetchError) {
        state.place = place
        if case .at(let offset)? = resumption {
            state.part = try PartFile(continuing: place.path, at: offset)
            state.length = offset
            return
        }
        if resumption == .kept, access(place.part, F_OK) != 0, access(place.path, F_OK) == 0 {
            throw FetchError(
                .cannotResume, "\(place.path) is there, but nothing tells of which version it is a part",
                advice: "remove it to begin anew, or name the byte: -C N goes on there, unchecked")
        }
        let part =
            try place.isSpecial ? PartFile(special: place.path, state.patience) : PartFile(of: place, isNew: isNew)
        state.part = part
        guard !part.isSpecial else { return }
        if resumption == .kept, part.length > 0 {
            let note = ResumeNote.read(place.note)
            if let note, note.url == ResumeNote.name(of: url) {
                state.note = note
                state.length = part.length
                return
            }
            explain(
                note == nil
                    ? "\(place.part) has no note of its version: it begins anew"
                    : "\(place.part) is a part of another URL: it begins anew")
        }
        try part.empty()
        unlink(place.note)
    }

    /// The answer to a request for the rest.
    private func goOn(_ response: HTTPURLResponse, _ state: inout State) throws(FetchError) {
        let name = state.place?.part ?? ""
        let isChecked = state.note != nil
        switch ResumeAnswer(
            status: response.statusCode, contentRange: response.value(forHTTPHeaderField: "Content-Range"),
            offset: state.offset)
        {
        case .rest(let length):
            state.wholeLength = length
            try state.part?.goOn(at: state.offset)
        case .whole where isChecked:
            explain("the resource has changed, or the server knows no ranges: \(name) begins anew")
            try state.part?.empty()
            state.length = 0
            state.offset = 0
            state.note = nil
        case .whole:
            throw FetchError(.cannotResume, "the server sends the whole in place of the rest: it is left out")
        case .nothingLeft:
            state.isWhole = true
            try state.part?.goOn(at: state.offset)
        case .other(let reason):
            throw FetchError(
                response.statusCode >= 400 && response.statusCode != 416 ? .errorStatus : .cannotResume,
                "\(reason); \(state.place?.path ?? "the file") is as it was")
        }
    }

    private func takeNote(of response: URLResponse, hasHead: Bool, _ state: inout State) {
        guard let place = state.place, let part = state.part, !part.isSpecial, !Self.isExplicit(resumption) else {
            return
        }
        guard state.note == nil, isPlainGET, !hasHead, let response = response as? HTTPURLResponse else { return }
        func value(_ name: String) -> String? { response.value(forHTTPHeaderField: name) }
        state.note = ResumeNote(
            url: url, status: response.statusCode, entityTag: value("ETag"), lastModified: value("Last-Modified"),
            date: value("Date"), coding: value("Content-Encoding"))
        if let note = state.note { note.write(place.note) } else { unlink(place.note) }
    }

    /// Why a file is not whole, as if the connection had ended there: another attempt goes on.
    private static func brokenOff(_ length: Int64, of whole: Int64) -> FetchError {
        FetchError(
            URLError(
                .networkConnectionLost,
                userInfo: [NSLocalizedDescriptionKey: "the server's part ends after \(length) of \(whole) bytes"]),
            hasAnswer: true)
    }

    private static func isExplicit(_ resumption: Resumption?) -> Bool {
        if case .at? = resumption { return true }
        return false
    }

    /// The lock's own function does not know which errors are thrown.
    private func withState(_ body: (inout sending State) throws(FetchError) -> Void) throws(FetchError) {
        try state.withLock { (state) throws(FetchError) in try body(&state) }
    }
}
