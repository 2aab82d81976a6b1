// What a task asks a delegate and has to wait for (B1.31), and what a delegate says.

import Foundation
import URLLoadingPolicy

/// Something a delegate is asked.
enum TaskQuestion: Sendable {
    indirect case redirect(HTTPURLResponse, URLRequest)
    case response(URLResponse)
    /// What may be stored in the cache.
    case storing(CachedURLResponse)
    /// Without an offset the method that knows none is asked.
    case bodyStream(WaitNumber, offset: Int64?)
    /// The response of a part in a multipart body (B1.62).
    case part(URLResponse)
    indirect case delayed(URLRequest, WaitNumber)
    /// Asked of the session's method or the tasks'.
    indirect case challenge(TaskChallenge, ofTask: Bool)

    var method: AskingMethod {
        switch self {
        case .redirect: .redirect
        case .response, .part: .response
        case .storing: .storing
        case .delayed: .delayed
        case .challenge(_, ofTask: false): .sessionChallenge
        case .challenge(_, ofTask: true): .taskChallenge
        case .bodyStream(_, nil): .bodyStream
        case .bodyStream: .bodyStreamFrom
        }
    }

    /// Whether the answer is one for a connection, which may serve other tasks too.
    var isAboutConnection: Bool { respondent != nil }

    /// The respondent that is asked about a connection.
    var respondent: Respondent? {
        guard case .challenge(let challenge, _) = self, case .connection(_, let asked) = challenge.subject else {
            return nil
        }
        return asked
    }

    /// What is asked where no delegate implements this one's method.
    var substitute: TaskQuestion? {
        switch self {
        case .bodyStream(let wait, nil): .bodyStream(wait, offset: 0)
        // B2.2.
        case .challenge(let challenge, ofTask: false): .challenge(challenge, ofTask: true)
        case .redirect, .response, .storing, .bodyStream, .part, .delayed, .challenge: nil
        }
    }

    /// The answer of a delegate that has none.
    var defaultAnswer: TaskAnswer {
        switch self {
        case .redirect(_, let request): .redirect(request)
        case .response, .part: .disposition(.allow)
        case .storing(let cached): .storing(cached)
        case .delayed: .delayed(.continueLoading, nil)
        case .bodyStream: .stream(nil)
        case .challenge: .challenge(.performDefaultHandling, nil)
        }
    }
}

/// What a delegate says.
enum TaskAnswer: Sendable {
    case redirect(URLRequest?)
    case disposition(URLSession.ResponseDisposition)
    case storing(CachedURLResponse?)
    case stream(InputStreamSource?)
    case delayed(URLSession.DelayedRequestDisposition, URLRequest?)
    case challenge(URLSession.AuthChallengeDisposition, URLCredential?)
}
