// Which uploads can go on after a loss. Ours: Apple's loader decides by itself.

import URLLoadingPolicy

extension URLSessionConfiguration {
    /// Ours: which upload tasks offer their server to be resumed (B11.24, B11.39).
    ///
    /// The offer is two fields, which servers that do not know them ignore.
    public enum ResumableUploads: Sendable {
        /// None.
        case never
        /// Upload tasks that send a file.
        case ofFiles
        /// All upload tasks, also those that send data or a stream. A stream's delegate is asked for another one that
        /// begins where the server left off, in `urlSession(_:task:needNewBodyStreamFrom:completionHandler:)`.
        case always
    }

    /// Ours: which upload tasks can be resumed after a loss, by themselves or with resume data, if the server can;
    /// those of files unless set otherwise. Data tasks never are.
    public var resumableUploads: ResumableUploads {
        get { value(\.resumableUploads) }
        set { assign(\.resumableUploads, newValue) }
    }

    /// How often and how soon a lost upload is taken up again; for tests.
    package var uploadPatience: ResumableUploadMachine.Patience {
        get { value(\.uploadPatience) }
        set { assign(\.uploadPatience, newValue) }
    }
}
