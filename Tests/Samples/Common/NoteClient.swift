// JSON fetched and stored with async and await.

import Foundation
import URLLoading

/// What the service keeps.
public struct Note: Codable, Equatable, Sendable {
    /// What it is called.
    public var title: String
    /// What it says.
    public var text: String

    /// Makes a note.
    public init(title: String, text: String) {
        self.title = title
        self.text = text
    }
}

/// Talks to a service that keeps notes.
public struct NoteClient: Sendable {
    /// The service's answer was not what was expected.
    public struct UnexpectedStatus: Error, Equatable {
        /// The status that came.
        public let code: Int
    }

    private let base: URL
    private let session: URLSession

    /// Talks to the service at a URL.
    public init(base: URL, session: URLSession = .shared) {
        self.base = base
        self.session = session
    }

    /// Fetches a note.
    public func note(named name: String) async throws -> Note {
        var request = URLRequest(url: base.appendingPathComponent(name))
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.cachePolicy = .reloadIgnoringLocalCacheData
        request.timeoutInterval = 20
        let (data, response) = try await session.data(for: request)
        try check(response)
        return try JSONDecoder().decode(Note.self, from: data)
    }

    /// Stores a note.
    public func replace(_ note: Note, named name: String) async throws {
        var request = URLRequest(url: base.appendingPathComponent(name))
        request.httpMethod = "PUT"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(note)
        let (_, response) = try await session.data(for: request)
        try check(response)
    }

    /// Several at once, in the order of their names.
    public func notes(named names: [String]) async throws -> [Note] {
        try await withThrowingTaskGroup(of: (Int, Note).self) { group in
            for (place, name) in names.enumerated() {
                group.addTask { (place, try await self.note(named: name)) }
            }
            var notes = [Note?](repeating: nil, count: names.count)
            for try await (place, note) in group { notes[place] = note }
            return notes.compactMap { $0 }
        }
    }

    private func check(_ response: URLResponse) throws {
        guard let response = response as? HTTPURLResponse, 200..<300 ~= response.statusCode else {
            throw UnexpectedStatus(code: (response as? HTTPURLResponse)?.statusCode ?? 0)
        }
    }
}
