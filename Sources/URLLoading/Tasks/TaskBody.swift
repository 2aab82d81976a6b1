// Where the body of a task comes from, and what one hop is sent with.

import Foundation
import URLLoadingEngine
import URLLoadingSystem

/// Where a task's body comes from.
enum TaskBody: Sendable {
    /// From the request of each hop.
    case request
    /// Data given with the task; the request's own body does not count (B11.4).
    case data(Data)
    /// A file that is opened when the task starts (B11.5).
    case file(URL)
    /// That file, and what it is known by where it may be needed again.
    case opened(OpenFile, UploadedFile?)
    /// A stream that a delegate supplies, for each sending (B11.8).
    case delegate
    /// A part of one of the others, for a request that goes on with an upload.
    case part(UploadPart)
    /// The rest of an upload that was begun before.
    case resuming(ResumedUpload)

    /// The length as far as it is known before the task starts (B11.11).
    func expectedLength(of request: URLRequest) -> Int64 {
        switch self {
        case .request: request.values.expectedBodyLength
        case .data(let data): Int64(data.count)
        case .file: NSURLSessionTransferSizeUnknown
        case .delegate: request.values.announcedLength ?? NSURLSessionTransferSizeUnknown
        case .opened(let file, _): file.byteCount
        case .part, .resuming: NSURLSessionTransferSizeUnknown
        }
    }

    /// What kind of task has such a body.
    var kind: TaskKind {
        switch self {
        case .request: .data
        case .data, .file, .opened, .delegate, .part, .resuming: .upload
        }
    }
}

/// What one hop is sent with.
enum HopContent: Sendable {
    case none
    case data(Data)
    case file(OpenFile)
    case section(OpenFile, from: Int64, count: Int64)
    case stream(InputStreamSource)
}
