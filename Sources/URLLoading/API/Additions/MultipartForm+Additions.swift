// Forms with files (multipart/form-data, RFC 7578) as the body of a request: put together by the program, and read
// while they are sent.
//
// Ours; Apple has nothing of the kind. Must not know: how a body is sent (`MultipartFormStream` gives its bytes).

import Foundation
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension URLRequest {
    /// Makes a form the body, and says so in `Content-Type`. A GET, which has no body, becomes a
    /// POST. This method is ours.
    ///
    /// ```swift
    /// var form = URLRequest.MultipartForm()
    /// form.append(text: "Graz", name: "town")
    /// try form.append(file: photo, name: "photo")
    /// var request = URLRequest(url: url)
    /// request.setMultipartForm(form)
    /// let (data, response) = try await session.data(for: request)
    /// ```
    ///
    /// A form without files is in `httpBody`. One with files is in `httpBodyStream`; where it is needed once more,
    /// after a redirect, a question about a password or a loss, it is read anew and no delegate is asked. Its
    /// length is known and sent.
    public mutating func setMultipartForm(_ form: MultipartForm) {
        if let data = form.wholeData { httpBody = data } else { httpBodyStream = MultipartFormStream(form) }
        if httpMethod == "GET" { httpMethod = "POST" }
        setValue(form.contentType, forHTTPHeaderField: "Content-Type")
    }

    /// A form to be sent: texts, data and files, in order. Ours.
    ///
    /// Between the parts stands a random boundary that cannot be guessed, so that no part can hold it.
    public struct MultipartForm: Sendable {
        /// A stretch of the body.
        enum Segment: Sendable {
            case bytes(Data)
            case file(URL, length: Int64)
        }

        /// What stands between the parts; another one for each form.
        public let boundary: String
        /// How long the body is.
        public private(set) var contentLength: Int64
        /// The parts, without the end that stands behind the last one.
        private var parts: [Segment] = []

        /// A form without parts.
        public init() {
            let random = (0..<2).map { _ in UInt64.random(in: .min ... .max) }
            boundary =
                "URLLoading-"
                + random.map { number in
                    let digits = String(number, radix: 16)
                    return String(repeating: "0", count: 16 - digits.count) + digits
                }.joined()
            contentLength = Int64(MultipartEncoder.end(boundary: boundary).count)
        }

        /// The value of Content-Type, with the boundary.
        public var contentType: String { "multipart/form-data; boundary=\(boundary)" }

        // MARK: Parts

        /// Adds a field with a text, which is sent in UTF-8 as it is.
        public mutating func append(text: String, name: String) {
            append(Data(text.utf8), MultipartEncoder.head(boundary: boundary, name: name, fileName: nil, type: nil))
        }

        /// Adds data, as a file if they have a file name. Then they have a Content-Type in any case, by default the one
        /// that the name's extension stands for.
        public mutating func append(data: Data, name: String, fileName: String? = nil, contentType: String? = nil) {
            let type = contentType ?? fileName.map(FileTypes.mimeType(ofPath:))
            append(data, MultipartEncoder.head(boundary: boundary, name: name, fileName: fileName, type: type))
        }

        /// Adds a file, which is read when it is sent, piece by piece. By default it has its own name, and the
        /// Content-Type that the name's extension stands for.
        ///
        /// It is looked at now, since its length is announced: one that cannot be opened, or is no regular file, is an
        /// error here. If its length is another when it is sent, the load fails with
        /// `URLError.requestBodyStreamExhausted` and a `FileError` as the underlying error.
        public mutating func append(
            file: URL, name: String, fileName: String? = nil, contentType: String? = nil
        ) throws(FileError) {
            let length = try file.openForForm().byteCount
            guard Self.hasRoom(for: length, behind: contentLength) else {
                throw FileError(file: file, problem: .tooLong)
            }
            let fileName = fileName ?? file.lastPathComponent
            let type = contentType ?? FileTypes.mimeType(ofPath: fileName)
            append(bytes: MultipartEncoder.head(boundary: boundary, name: name, fileName: fileName, type: type))
            parts.append(.file(file, length: length))
            contentLength += length
            append(bytes: MultipartEncoder.partEnd)
        }

        private mutating func append(_ data: Data, _ head: [UInt8]) {
            append(bytes: head)
            append(bytes: data)
            append(bytes: MultipartEncoder.partEnd)
        }

        /// Order: what files come to leaves room for all that memory can hold.
        private mutating func append(bytes: some Collection<UInt8>) {
            contentLength += Int64(bytes.count)
            guard case .bytes(var data)? = parts.last else { return parts.append(.bytes(Data(bytes))) }
            // Order: as the only reference the data grow in place.
            parts.removeLast()
            data.append(contentsOf: bytes)
            parts.append(.bytes(data))
        }

        /// Whether a file still fits: files come to no more than half of what can be counted. Those with
        /// holes are of any length.
        package static func hasRoom(for file: Int64, behind length: Int64) -> Bool {
            let (sum, overflows) = length.addingReportingOverflow(file)
            return !overflows && sum <= .max / 2
        }

        // MARK: The body

        /// The body, from its beginning to its end.
        var segments: [Segment] { parts + [.bytes(Data(MultipartEncoder.end(boundary: boundary)))] }

        /// The body, where all of it is in memory.
        var wholeData: Data? {
            var whole = Data()
            for segment in segments {
                guard case .bytes(let data) = segment else { return nil }
                whole.append(data)
            }
            return whole
        }

        /// Why a file of a form cannot be sent.
        public struct FileError: Error, Sendable, Hashable {
            /// What is wrong with it.
            public enum Problem: Sendable, Hashable {
                /// The file cannot be opened or read, for this reason of the system's.
                case unreadable(POSIXErrorCode)
                /// There is less of it than when it was added.
                case becameShorter
                /// There is more of it than when it was added.
                case becameLonger
                /// The form would be longer than can be counted.
                case tooLong
            }

            /// The file.
            public let file: URL
            /// What is wrong with it.
            public let problem: Problem

            /// Makes an error.
            public init(file: URL, problem: Problem) {
                self.file = file
                self.problem = problem
            }
        }
    }
}

extension URLRequest.MultipartForm.FileError: LocalizedError {
    /// A sentence for a person.
    public var errorDescription: String? {
        switch problem {
        case .unreadable(let code):
            "The form's file \(file.path) cannot be read: \(POSIXError(code).localizedDescription)"
        case .becameShorter: "The form's file \(file.path) has become shorter since it was added."
        case .becameLonger: "The form's file \(file.path) has become longer since it was added."
        case .tooLong: "With the file \(file.path) the form is too long."
        }
    }
}
