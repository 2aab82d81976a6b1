// How the tasks of a session are made, whatever they are: from what is wanted to the object that the program sees.
//
// Must not know: what tasks do, what is in resume data.

import Foundation

extension URLSession {
    /// Makes a suspended task and the object that the program sees of it, and tells the delegate.
    func make<Face: URLSessionTask>(_ new: borrowing NewTask, as face: (TaskCore) -> Face) -> Face {
        let task = core.makeTask(new, session: self)
        let face = face(task)
        task.state.withLock { $0.show(face, isListed: task.slot != nil) }
        task.telling.tellMaking()
        return face
    }

    /// A task that brings an answer to the delegate or to a handler.
    func makeDataTask(_ request: URLRequest, outlet: TaskOutlet = .delegate) -> URLSessionDataTask {
        make(NewTask(request, outlet: outlet)) { URLSessionDataTask(core: $0) }
    }

    /// A task that sends a body of its own besides.
    func makeUploadTask(
        _ request: URLRequest, body: TaskBody, outlet: TaskOutlet = .delegate
    ) -> URLSessionUploadTask {
        make(NewTask(request, body: body, outlet: outlet)) { URLSessionUploadTask(core: $0) }
    }

    /// A task that goes on with an upload.
    func makeUploadTask(resuming data: Data, outlet: TaskOutlet = .delegate) -> URLSessionUploadTask {
        let (upload, request) = ResumedUpload.read(data)
        return makeUploadTask(request, body: .resuming(upload), outlet: outlet)
    }

    /// A task that saves an answer in a file; it may go on with what there is.
    func makeDownloadTask(
        _ request: URLRequest, outlet: FileOutlet = .delegate, continuing source: ResumeData? = nil
    ) -> URLSessionDownloadTask {
        make(NewTask(request, file: outlet, continuing: source)) { URLSessionDownloadTask(core: $0) }
    }

    /// A task that goes on with a download.
    func makeDownloadTask(resuming data: Data, outlet: FileOutlet = .delegate) -> URLSessionDownloadTask {
        make(NewTask(resuming: data, outlet: outlet)) { URLSessionDownloadTask(core: $0) }
    }

    /// A task that opens a web socket.
    func makeWebSocketTask(_ request: URLRequest, protocols: [String] = []) -> URLSessionWebSocketTask {
        make(NewTask(request, webSocket: WebSocketCalls(protocols: protocols))) { URLSessionWebSocketTask(core: $0) }
    }
}

extension NewTask {
    /// A task that goes on with a download; without a request where the data cannot be read, which it says when it is
    /// resumed (B9.32, B9.34).
    init(resuming data: Data, outlet: FileOutlet, delegate: (any URLSessionTaskDelegate)? = nil) {
        let source = ResumeData(data)
        self.init(source?.request, file: outlet, delegate: delegate, continuing: source)
    }
}
