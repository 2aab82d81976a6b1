// The continuation of an async call, whatever it is to return.
//
// Must not know: tasks, where a call is resumed (`EndedCalls`).

import Foundation
import URLLoadingPolicy

/// The async call that waits for a task.
enum TaskContinuation: Sendable {
    case data(UnsafeContinuation<(Data, URLResponse), any Error>)
    case file(UnsafeContinuation<(URL, URLResponse), any Error>)
    case warmth(UnsafeContinuation<PoolMachine.Warmth, any Error>)

    func resume(throwing error: any Error) {
        switch self {
        case .data(let continuation): continuation.resume(throwing: error)
        case .file(let continuation): continuation.resume(throwing: error)
        case .warmth(let continuation): continuation.resume(throwing: error)
        }
    }

    func resume(data: Data, _ response: URLResponse) {
        guard case .data(let continuation) = self else { return resume(throwing: Self.mismatch) }
        continuation.resume(returning: (data, response))
    }

    func resume(file: URL, _ response: URLResponse) {
        guard case .file(let continuation) = self else { return resume(throwing: Self.mismatch) }
        continuation.resume(returning: (file, response))
    }

    func resume(_ warmth: PoolMachine.Warmth) {
        guard case .warmth(let continuation) = self else { return resume(throwing: Self.mismatch) }
        continuation.resume(returning: warmth)
    }

    private static var mismatch: URLError {
        LoadFailure.make(.unknown, nil, "The load ended with something else than was asked for.")
    }
}
