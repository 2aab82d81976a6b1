// The body of an answer that interceptors see, whatever it is, and how it is read.
//
// Must not know: for which call it is.

import Foundation

/// Where the body of an answer is.
enum InterceptedBody: Sendable {
    case data(Data)
    case file(AnswerFile)
    /// Still to come.
    case feed(TransferFeed)
    /// Still to come from the program.
    case pieces(@Sendable () -> any PieceSupply)

    /// All of it.
    func collected(upTo limit: Int) async throws -> Data {
        if case .data(let data) = self {
            try Self.check(data.count, limit)
            return data
        }
        var whole = Data()
        var pieces = BodyPieces(self)
        while let piece = try await pieces.next(isolation: nil) {
            try Self.check(piece.count, limit - whole.count)
            whole.append(piece)
        }
        return whole
    }

    private static func check(_ count: Int, _ room: Int) throws {
        if count <= room { return }
        throw LoadFailure.make(.dataLengthExceedsMaximum, nil, "The body is longer than is to be collected.")
    }
}

/// Where the bytes of a call are read from.
enum BytesSource: Sendable {
    /// From a task's events.
    case feed(TransferFeed)
    /// From an answer that an interceptor has given, with the last task that has brought a body for it.
    case answer(InterceptedBody, URLSessionDataTask)

    var task: URLSessionDataTask {
        switch self {
        case .feed(let feed): feed.task
        case .answer(_, let task): task
        }
    }
}

extension BodyPieces {
    init(_ source: BytesSource) {
        switch source {
        case .feed(let feed): self.init(feed)
        case .answer(let body, _): self.init(body)
        }
    }

    init(_ body: InterceptedBody) {
        switch body {
        case .data(let data): self.init(supply: OnePiece(data))
        case .file(let file): self.init(supply: AnswerFilePieces(file))
        case .feed(let feed): self.init(feed)
        case .pieces(let make): self.init(supply: make())
        }
    }
}
