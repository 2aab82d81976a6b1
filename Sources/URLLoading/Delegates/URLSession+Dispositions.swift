// The answers that delegates give. Those of challenges come with that feature.

extension URLSession {
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
        /// Go on as a download task. That is not offered yet: the task ends with `URLError.unsupportedURL`
        /// and a description that says so.
        case becomeDownload = 2
        /// Go on as a stream task. There are no stream tasks yet: the task ends with `URLError.unsupportedURL` and a
        /// description that says so.
        case becomeStream = 3
    }
}
