// The answers that delegates give.

extension URLSession {
    /// What is to be done about a challenge.
    public enum AuthChallengeDisposition: Int, Sendable {
        /// Use the given credential: it accepts the server, or is shown to it (B2.33).
        case useCredential = 0
        /// Go on as if the delegate had no such method; a credential is ignored (B2.36).
        case performDefaultHandling = 1
        /// End the task with `URLError.cancelled`; a credential is ignored (B2.38).
        case cancelAuthenticationChallenge = 2
        /// Refuse this space. A server whose certificates are refused so ends the task with
        /// `URLError.serverCertificateUntrusted` (B2.40); one that wants ours gets none (B2.41).
        case rejectProtectionSpace = 3
    }

    /// What is to be done with a request whose begin date has come.
    public enum DelayedRequestDisposition: Int, Sendable {
        /// Send the request as it is.
        case continueLoading = 0
        /// Send the given request instead.
        case useNewRequest = 1
        /// End the task with `URLError.cancelled`.
        case cancel = 2
    }

    /// What is to be done with a response.
    public enum ResponseDisposition: Int, Sendable {
        /// End the task with `URLError.cancelled`; no body is delivered.
        case cancel = 0
        /// Deliver the body.
        case allow = 1
        /// Go on as a download task, which the delegate is given (B1.68). Where the response is not the session
        /// delegate's, or is a part of a multipart body, the task ends with `URLError.unsupportedURL`.
        case becomeDownload = 2
        /// Go on as a stream task on the same connection, which the delegate is given (B1.70). What follows the
        /// response's head is read as it comes, with its framing and coding. Where the response is not the session
        /// delegate's, where it came over no connection (from a cache, from a class of the program's, of another
        /// scheme), is a part of a multipart body or an upload's, or where the request has not been sent whole, the
        /// task ends with `URLError.unsupportedURL` and a description that says why.
        case becomeStream = 3
    }
}
