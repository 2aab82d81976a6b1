// Loads a URL while the caller's thread waits, for the initialisers of Foundation that take a URL of any kind.

import Dispatch
import Foundation
import Synchronization

/// A load that a thread waits for; also for the module in `Compatibility/`.
@_spi(Compatibility) public final class RemoteContents: Sendable {
    private let isDone = DispatchSemaphore(value: 0)
    private let outcome = Mutex<(data: Data?, response: URLResponse?, error: (any Error)?)>((nil, nil, nil))

    /// Of its own, so that its handlers, which only wake a waiting thread, never wait behind other handlers.
    private static let session = URLSession(configuration: .default)

    /// What a URL stands for, and the name of its text encoding if the server tells one. Errors are Cocoa's, as those
    /// of unreadable files are, with the loader's error underneath and its words.
    public static func load(_ url: URL) throws -> (data: Data, textEncodingName: String?) {
        let load = RemoteContents()
        let task = session.dataTask(with: url) { data, response, error in
            load.outcome.withLock { $0 = (data, response, error) }
            load.isDone.signal()
        }
        task.resume()
        load.isDone.wait()
        return try load.result(of: url)
    }

    private func result(of url: URL) throws -> (data: Data, textEncodingName: String?) {
        let (data, response, error) = outcome.withLock { $0 }
        guard let data, error == nil else { throw Self.unreadable(url, error) }
        if let status = (response as? HTTPURLResponse)?.statusCode, !Self.hasContents(status: status) {
            let description = ErrorText.naming("The server answered with the status \(status).", hostOf: url)
            throw Self.unreadable(url, LoadFailure.make(.badServerResponse, url, description))
        }
        return (data, response?.textEncodingName)
    }

    /// Whether a response is what the URL stands for, and not a page about an error. The list is Foundation's on Linux.
    private static func hasContents(status: Int) -> Bool {
        switch status {
        case 101, 200...399, 401, 407: true
        default: false
        }
    }

    private static func unreadable(_ url: URL, _ error: (any Error)?) -> CocoaError {
        var info: [String: Any] = [NSURLErrorKey: url]
        if let error {
            info[NSUnderlyingErrorKey] = error
            // Cocoa has no words for it but its number.
            info[NSLocalizedDescriptionKey] = error.localizedDescription
        }
        return CocoaError(.fileReadUnknown, userInfo: info)
    }
}
