// Tasks that are made from resume data (B9.25). Must not know what is in the data.

import Foundation

extension URLSession {
    /// A task that goes on with a download, told and with a face like any other.
    func makeDownloadTask(resuming data: Data, outlet: FileOutlet) -> URLSessionDownloadTask {
        let task = makeTask(resuming: data, outlet: outlet, delegate: nil)
        let face = URLSessionDownloadTask(core: task)
        task.state.withLock { $0.face = face }
        task.tell(.createTask) { $0.urlSession($1, didCreateTask: $2) }
        return face
    }

    /// A task that goes on with a download; without a request where the data cannot be read, which it says when it is
    /// resumed (B9.32, B9.34).
    func makeTask(
        resuming data: Data, outlet: FileOutlet, delegate: (any URLSessionTaskDelegate)?
    ) -> TaskCore {
        let source = ResumeData(data)
        let task = core.makeTask(
            source?.request ?? URLRequest(RequestValues()), outlet: .file(outlet), delegate: delegate, session: self)
        task.state.withLock { $0.download.source = source }
        if source == nil { task.state.withLock { $0.refuseResumeData() } }
        return task
    }
}

extension TaskState {
    /// There is nothing that could be asked for.
    fileprivate mutating func refuseResumeData() {
        originalRequest = nil
        currentRequest = nil
    }
}
