// What a session makes a task of: everything in which tasks differ when they are made.
//
// Must not know: how a task loads, and what is told of it.

import Foundation

/// A task that is to be made.
struct NewTask: ~Copyable, Sendable {
    /// What is loaded; nil where there is nothing that could be asked for.
    let request: URLRequest?
    let body: TaskBody
    let outlet: TaskOutlet
    let kind: TaskKind
    let delegate: (any URLSessionTaskDelegate)?
    /// What a download begins with.
    let download: Rare<DownloadProgress>
    /// Its number, where it has one already: it was made in an earlier run of the program (B10.33).
    var number: Int?

    /// A task that sends a request and brings the answer to an outlet.
    init(
        _ request: URLRequest?, body: TaskBody = .request, outlet: TaskOutlet, kind: TaskKind? = nil,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) {
        self.request = request
        self.body = body
        self.outlet = outlet
        self.delegate = delegate
        self.kind = kind ?? body.kind
        download = outlet.savesFile ? .some(DownloadProgress()) : .none
    }

    /// A task that saves the answer in a file; it may go on with what there is.
    init(
        _ request: URLRequest?, file: FileOutlet, delegate: (any URLSessionTaskDelegate)? = nil,
        continuing source: ResumeData?
    ) {
        self.request = request
        self.delegate = delegate
        body = .request
        outlet = .file(file)
        kind = .data
        download = .some(DownloadProgress(source: source))
    }

    /// A task that opens a connection and sends nothing.
    init(_ request: URLRequest, warmUp: WarmUp) {
        self.request = request
        body = .request
        outlet = .warmth(warmUp)
        kind = .warmUp(warmUp)
        delegate = nil
        download = .none
    }

    /// A task that is a connection.
    init(_ stream: StreamCalls) {
        self.init(nil, as: .stream(stream))
    }

    /// A task that opens a web socket.
    init(_ request: URLRequest, webSocket: WebSocketCalls) {
        self.init(request, as: .webSocket(webSocket))
    }

    private init(_ request: URLRequest?, as kind: TaskKind) {
        self.request = request
        self.kind = kind
        body = .request
        outlet = .delegate
        delegate = nil
        download = .none
    }

    /// The length of what is sent, as far as it is known.
    var expectedToSend: Int64 {
        switch kind.name {
        case .data, .upload: request.map { body.expectedLength(of: $0) } ?? 0
        case .warmUp: 0
        case .stream, .webSocket: NSURLSessionTransferSizeUnknown
        }
    }

    /// The length of what comes, as far as it is known.
    var expectedToReceive: Int64 {
        switch kind.name {
        case .data, .upload, .warmUp: 0
        case .stream, .webSocket: NSURLSessionTransferSizeUnknown
        }
    }
}
