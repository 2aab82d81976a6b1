// Downloads that break off and go on: a server that gives a half, and a delegate that writes down what is told.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingWire

/// Gives the first half of "helloworld" and holds the rest back, and answers the requests that follow as it is told.
final class HalfServer: Sendable {
    /// One entry for each request: its path, and the range and validator with which the rest was asked for.
    let asked = Guarded<[String]>([])
    let gate = ServerGate()
    private let fields: String
    private let ending: [ScriptStep]
    private let then: @Sendable (ServerRequest) -> ServerResponse

    /// `ending` follows the half; else the gate and the rest.
    init(
        _ fields: String = "ETag: \"v1\"\r\nContent-Length: 10\r\n", ending: [ScriptStep]? = nil,
        then: @escaping @Sendable (ServerRequest) -> ServerResponse = HalfServer.rest
    ) {
        self.fields = fields
        self.ending = ending ?? [.wait(gate), .send(Array("world".utf8))]
        self.then = then
    }

    var router: LoopbackServer.Router {
        { [self] request in
            var isFirst = false
            asked.change { asked in
                isFirst = asked.isEmpty
                let range = request.fields.first(.range).map { " \($0) if \(request.fields.first(.ifRange) ?? "")" }
                asked.append("\(request.path)\(range ?? "")")
            }
            guard isFirst else { return then(request) }
            return .script(
                [.send(Array("HTTP/1.1 200 OK\r\n\(fields)\r\nhello".utf8))] + ending)
        }
    }

    /// Answers a request for the rest with the rest, and every other one with the whole.
    static let rest: @Sendable (ServerRequest) -> ServerResponse = { request in
        request.fields.first(.range) == "bytes=5-"
            ? .text("world", status: 206).adding("Content-Range", "bytes 5-9/10") : .text("helloworld")
    }
}

/// Writes down what downloads, and data tasks that become downloads, tell.
final class ResumptionScribe: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate {
    let transcript = Transcript()
    let error = Guarded<URLError?>(nil)
    let locations = Guarded<[URL]>([])
    private let disposition: URLSession.ResponseDisposition
    private let onWrite: @Sendable (URLSessionDownloadTask, Transcript) -> Void

    init(
        _ disposition: URLSession.ResponseDisposition = .allow,
        onWrite: @escaping @Sendable (URLSessionDownloadTask, Transcript) -> Void = { _, _ in }
    ) {
        self.disposition = disposition
        self.onWrite = onWrite
    }

    /// A scribe that cancels its task when bytes have been written, and notes when the resume data come.
    static func cancelling() -> ResumptionScribe {
        ResumptionScribe(onWrite: { task, transcript in
            task.cancel(byProducingResumeData: { transcript.note($0 == nil ? "no data" : "data") })
        })
    }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        transcript.note("created \(task.taskIdentifier)")
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transcript.note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        completionHandler(disposition)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) {
        let isSame =
            dataTask.taskIdentifier == downloadTask.taskIdentifier && dataTask !== downloadTask
            && dataTask.originalRequest == downloadTask.originalRequest
            && dataTask.currentRequest == downloadTask.currentRequest && dataTask.response == downloadTask.response
            && downloadTask.response != nil
        transcript.note("became \(downloadTask.taskIdentifier)\(isSame ? "" : " DIFFERENT")")
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transcript.note(data: data)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        transcript.note("resumed \(fileOffset) of \(expectedTotalBytes)")
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        transcript.note("wrote \(bytesWritten), \(totalBytesWritten) of \(totalBytesExpectedToWrite)")
        onWrite(downloadTask, transcript)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        locations.change { $0.append(location) }
        transcript.note("finished " + text(of: location))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.error.value = error as? URLError
        transcript.note("complete \(Transcript.text(error))")
        transcript.completed.fire()
    }
}

/// What is in a small file, or how large it is; not by `Data(contentsOf:)`, which loses its
/// buffer where a file is empty.
func text(of location: URL) -> String {
    guard let handle = try? FileHandle(forReadingFrom: location) else { return "no file" }
    let content = (try? handle.readToEnd()) ?? Data()
    // Decoding millions of bytes that are no text takes minutes.
    return content.count < 1000 ? String(decoding: content, as: UTF8.self) : "\(content.count) bytes"
}

/// A session of its own for one scribe. The test that makes it invalidates it.
func session(of scribe: ResumptionScribe?, _ change: (URLSessionConfiguration) -> Void = { _ in }) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    change(configuration)
    return URLSession(configuration: configuration, delegate: scribe, delegateQueue: nil)
}

/// The data of a download that was cancelled after its first half.
func halfOf(_ url: URL) async throws -> Data {
    let scribe = ResumptionScribe.cancelling()
    let session = session(of: scribe)
    session.downloadTask(with: url).resume()
    await scribe.transcript.completed.wait()
    session.invalidateAndCancel()
    return try #require(scribe.error.value?.downloadTaskResumeData)
}

/// Goes on with data in a session of its own, to the end.
func goOn(with data: Data) async -> ResumptionScribe {
    let scribe = ResumptionScribe()
    let session = session(of: scribe)
    session.downloadTask(withResumeData: data).resume()
    await scribe.transcript.completed.wait()
    session.invalidateAndCancel()
    return scribe
}

/// The data taken apart, to be put together otherwise.
func parts(of data: Data) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
}

/// The file that data name.
func partialFile(of data: Data) throws -> URL {
    let name = try #require(try parts(of: data)["file"] as? String)
    return FileManager.default.temporaryDirectory.appendingPathComponent(name)
}
