// Delegates that write down what they are told.

import Foundation
import URLLoading
import URLLoadingLegacy
import URLLoadingTestSupport

/// Lines in order, and whether they came where they should.
final class Notes: Sendable {
    private let seen = Guarded<[String]>([])
    private let busy = Guarded(0)
    let overlapped = Guarded(false)
    let threads = Guarded<Set<ObjectIdentifier>>([])

    var lines: [String] { seen.value }

    /// Notes a line while `body` runs; pieces of a body come as one line.
    func note<R>(_ line: String, _ body: () -> R) -> R {
        if busy.add(1) > 1 { overlapped.value = true }
        defer { busy.add(-1) }
        let thread = ObjectIdentifier(Thread.current)
        threads.change { _ = $0.insert(thread) }
        seen.change { lines in
            if line != "data" || lines.last != "data" { lines.append(line) }
        }
        return body()
    }
}

/// Has everything but the methods for challenges. Which methods a delegate has is settled where its class conforms, so
/// it is its subclasses that do.
@available(*, deprecated)
class Recording: NSObject, @unchecked Sendable {
    // Safe to share: settings are made before the connection is.
    let notes = Notes()
    let body = Guarded(Data())
    /// Called with each line's first word.
    var hook: @Sendable (String, NSURLConnection) -> Void = { _, _ in }
    var onSend: @Sendable (URLRequest, URLResponse?) -> URLRequest? = { request, _ in request }
    var usesStorage = true
    var stored: @Sendable (CachedURLResponse) -> CachedURLResponse? = { _ in nil }
    var stream: @Sendable () -> InputStream? = { nil }

    func note(_ word: String, _ rest: String, _ connection: NSURLConnection) {
        notes.note(rest.isEmpty ? word : "\(word) \(rest)") { hook(word, connection) }
    }

    func connection(
        _ connection: NSURLConnection, willSend request: URLRequest, redirectResponse response: URLResponse?
    ) -> URLRequest? {
        let status = (response as? HTTPURLResponse).map { " after \($0.statusCode)" } ?? ""
        note("send", "\(request.url?.path ?? "")\(status)", connection)
        return onSend(request, response)
    }

    func connectionShouldUseCredentialStorage(_ connection: NSURLConnection) -> Bool {
        note("storage", "", connection)
        return usesStorage
    }

    func connection(_ connection: NSURLConnection, didReceive response: URLResponse) {
        note("response", "\((response as? HTTPURLResponse)?.statusCode ?? 0)", connection)
    }

    func connection(_ connection: NSURLConnection, didReceive data: Data) {
        body.change { $0.append(data) }
        note("data", "", connection)
    }

    func connection(_ connection: NSURLConnection, needNewBodyStream request: URLRequest) -> InputStream? {
        note("stream", "", connection)
        return stream()
    }

    func connection(
        _ connection: NSURLConnection, didSendBodyData bytesWritten: Int, totalBytesWritten: Int,
        totalBytesExpectedToWrite: Int
    ) {
        note("sent", "\(totalBytesWritten) of \(totalBytesExpectedToWrite)", connection)
    }

    func connection(
        _ connection: NSURLConnection, willCacheResponse cachedResponse: CachedURLResponse
    ) -> CachedURLResponse? {
        note("store", "", connection)
        return stored(cachedResponse)
    }

    func connectionDidFinishLoading(_ connection: NSURLConnection) {
        note("finish", "", connection)
    }

    func connection(_ connection: NSURLConnection, didFailWithError error: any Error) {
        note("fail", "\(code(error))", connection)
    }

    var text: String { String(decoding: body.value, as: UTF8.self) }
}

/// Has no method for challenges.
@available(*, deprecated)
final class Recorder: Recording, NSURLConnectionDataDelegate, @unchecked Sendable {
    // Safe to share: as its superclass.
}

/// Answers challenges by the one newer method.
@available(*, deprecated)
final class AskedRecorder: Recording, NSURLConnectionDataDelegate, @unchecked Sendable {
    // Safe to share: as its superclass.
    var answer: @Sendable (URLAuthenticationChallenge) -> Void = { _ in }

    func connection(_ connection: NSURLConnection, willSendRequestFor challenge: URLAuthenticationChallenge) {
        note("asked", "\(challenge.protectionSpace.realm ?? "") \(challenge.previousFailureCount)", connection)
        answer(challenge)
    }
}

/// Answers challenges by the three older methods.
@available(*, deprecated)
final class OlderRecorder: Recording, NSURLConnectionDataDelegate, @unchecked Sendable {
    // Safe to share: as its superclass.
    var can = true
    var answer: @Sendable (URLAuthenticationChallenge) -> Void = { _ in }

    func connection(
        _ connection: NSURLConnection, canAuthenticateAgainstProtectionSpace protectionSpace: URLProtectionSpace
    ) -> Bool {
        let method = protectionSpace.authenticationMethod.replacingOccurrences(
            of: "NSURLAuthenticationMethod", with: "")
        note("can", method, connection)
        return can
    }

    func connection(_ connection: NSURLConnection, didReceive challenge: URLAuthenticationChallenge) {
        note("asked", "", connection)
        answer(challenge)
    }

    func connection(_ connection: NSURLConnection, didCancel challenge: URLAuthenticationChallenge) {
        note("unasked", "", connection)
    }
}

/// Implements of the three older methods only the answer, and nothing else.
@available(*, deprecated)
final class BareRecorder: NSObject, NSURLConnectionDataDelegate, @unchecked Sendable {
    // Safe to share: settings are made before the connection is.
    let notes = Notes()
    var answer: @Sendable (URLAuthenticationChallenge) -> Void = { _ in }

    func connection(_ connection: NSURLConnection, didReceive challenge: URLAuthenticationChallenge) {
        notes.note("asked") { answer(challenge) }
    }

    func connection(_ connection: NSURLConnection, didReceive response: URLResponse) {
        notes.note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)") {}
    }

    func connectionDidFinishLoading(_ connection: NSURLConnection) { notes.note("finish") {} }

    func connection(_ connection: NSURLConnection, didFailWithError error: any Error) {
        notes.note("fail \(code(error))") {}
    }
}

/// Gets the body in a file.
@available(*, deprecated)
final class FileRecorder: NSObject, NSURLConnectionDownloadDelegate, @unchecked Sendable {
    // Safe to share: immutable.
    let notes = Notes()
    let file = Guarded<URL?>(nil)
    let text = Guarded("")
    let written = Guarded<Int64>(0)

    func connection(
        _ connection: NSURLConnection, didWriteData bytesWritten: Int64, totalBytesWritten: Int64,
        expectedTotalBytes: Int64
    ) {
        written.change { $0 += bytesWritten }
        notes.note("data") {}
    }

    func connectionDidFinishDownloading(_ connection: NSURLConnection, destinationURL: URL) {
        file.value = destinationURL
        text.value = (try? String(contentsOf: destinationURL, encoding: .utf8)) ?? ""
        notes.note("finish") {}
    }

    func connection(_ connection: NSURLConnection, didFailWithError error: any Error) {
        notes.note("fail \(code(error))") {}
    }
}

/// Writes down what a download tells.
@available(*, deprecated)
final class DownloadRecorder: NSObject, NSURLDownloadDelegate, @unchecked Sendable {
    // Safe to share: settings are made before the download is.
    let notes = Notes()
    var hook: @Sendable (String, NSURLDownload) -> Void = { _, _ in }
    var decodes = false
    var destination: String?
    var allowsOverwrite = false
    var answer: @Sendable (URLAuthenticationChallenge) -> Void = { _ in }
    let received = Guarded(0)

    private func note(_ word: String, _ rest: String, _ download: NSURLDownload) {
        notes.note(rest.isEmpty ? word : "\(word) \(rest)") { hook(word, download) }
    }

    func downloadDidBegin(_ download: NSURLDownload) { note("begin", "", download) }

    func download(
        _ download: NSURLDownload, willSend request: URLRequest, redirectResponse: URLResponse?
    ) -> URLRequest? {
        let status = (redirectResponse as? HTTPURLResponse).map { " after \($0.statusCode)" } ?? ""
        note("send", "\(request.url?.path ?? "")\(status)", download)
        return request
    }

    func download(
        _ download: NSURLDownload, canAuthenticateAgainstProtectionSpace protectionSpace: URLProtectionSpace
    ) -> Bool {
        note("can", "", download)
        return true
    }

    func download(_ download: NSURLDownload, didReceive challenge: URLAuthenticationChallenge) {
        note("asked", "", download)
        answer(challenge)
    }

    func downloadShouldUseCredentialStorage(_ download: NSURLDownload) -> Bool {
        note("storage", "", download)
        return true
    }

    func download(_ download: NSURLDownload, didReceive response: URLResponse) {
        note("response", "\((response as? HTTPURLResponse)?.statusCode ?? 0)", download)
    }

    func download(_ download: NSURLDownload, willResumeWith response: URLResponse, fromByte startingByte: Int64) {
        note("resume", "\(startingByte)", download)
    }

    func download(_ download: NSURLDownload, didReceiveDataOfLength length: Int) {
        received.change { $0 += length }
        note("data", "", download)
    }

    func download(_ download: NSURLDownload, shouldDecodeSourceDataOfMIMEType encodingType: String) -> Bool {
        note("decode", encodingType, download)
        return decodes
    }

    func download(_ download: NSURLDownload, decideDestinationWithSuggestedFilename filename: String) {
        note("decide", filename, download)
        if let destination { download.setDestination(destination, allowOverwrite: allowsOverwrite) }
    }

    func download(_ download: NSURLDownload, didCreateDestination path: String) {
        note("created", (path as NSString).lastPathComponent, download)
    }

    func downloadDidFinish(_ download: NSURLDownload) { note("finish", "", download) }

    func download(_ download: NSURLDownload, didFailWithError error: any Error) {
        note("fail", "\(code(error))", download)
    }
}
