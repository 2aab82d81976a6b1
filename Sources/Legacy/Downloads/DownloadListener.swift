// Puts what a load tells into the words of a download's delegate, and sees that the file is made and written meanwhile.
//
// Files are made in the delegate's place, because it says where; they are written on a queue of their own.

import Foundation
import URLLoading

/// Tells a download's delegate.
@available(*, deprecated)
final class DownloadListener: LoadListener, @unchecked Sendable {
    // Safe to share: all is immutable; the delegate is called in its place only, one message at a time, and the
    // download is only handed on.
    private let download: NSURLDownload
    private let delegate: (any NSURLDownloadDelegate)?
    private let load: LegacyLoad
    private let transfer: DownloadTransfer
    private let isUsable: Bool
    private let writing = DispatchQueue(label: "NSURLDownload")

    /// `isUsable`: the data that say where to go on could be read.
    init(
        _ download: NSURLDownload, _ delegate: (any NSURLDownloadDelegate)?, _ load: LegacyLoad,
        _ transfer: DownloadTransfer, isUsable: Bool
    ) {
        self.download = download
        self.delegate = delegate
        self.load = load
        self.transfer = transfer
        self.isUsable = isUsable
    }

    var principal: AnyObject? { delegate }

    func begins() {
        delegate?.downloadDidBegin(download)
        if !isUsable {
            // As B9.32 has it for tasks.
            load.fail(with: LegacyFailure.make(.unsupportedURL, nil, "The data to resume a download cannot be read."))
        }
    }

    func willSend(_ request: URLRequest, after response: URLResponse?) -> URLRequest? {
        guard isUsable else { return nil }
        let request = response == nil ? transfer.prepared(request) : request
        guard let delegate else { return request }
        return delegate.download(download, willSend: request, redirectResponse: response)
    }

    func usesCredentialStorage() -> Bool {
        delegate?.downloadShouldUseCredentialStorage(download) ?? true
    }

    func isAsked(_ challenge: URLAuthenticationChallenge) {
        if let delegate,
            delegate.download(download, canAuthenticateAgainstProtectionSpace: challenge.protectionSpace)
        {
            delegate.download(download, didReceive: challenge)
        } else {
            challenge.sender?.performDefaultHandling(for: challenge)
        }
    }

    func isAskedNoMore(_ challenge: URLAuthenticationChallenge) {
        delegate?.download(download, didCancel: challenge)
    }

    /// There is no file before that.
    var preparesForBody: Bool { true }

    func receives(_ response: URLResponse) {
        let (answer, begun) = transfer.meaning(of: response, to: load.currentRequest)
        switch answer {
        case .isUseless:
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            load.fail(
                with: LegacyFailure.make(
                    .badServerResponse, response.url,
                    "The download cannot go on: the server has answered with status \(status)."))
        case .isWhole:
            delegate?.download(download, willResumeWith: response, fromByte: begun)
        case .goesOn:
            delegate?.download(download, willResumeWith: response, fromByte: begun)
            make { try transfer.reopenFile() }
        case .beginsAnew:
            save(response)
        }
    }

    private func save(_ response: URLResponse) {
        delegate?.download(download, didReceive: response)
        guard load.isRunning else { return }
        let isCompressed = SourceDecoder.recognises(response)
        let decodes =
            isCompressed
            && delegate?.download(download, shouldDecodeSourceDataOfMIMEType: SourceDecoder.type) ?? false
        let suggested = response.suggestedFilename ?? "Unknown"
        let name = decodes ? SourceDecoder.decodedName(suggested) : suggested
        guard load.isRunning else { return }
        if !transfer.hasDestination { delegate?.download(download, decideDestinationWithSuggestedFilename: name) }
        guard load.isRunning else { return }
        make {
            let path = try transfer.makeFile(named: name, decodes: decodes)
            if load.isRunning { delegate?.download(download, didCreateDestination: path) }
        }
    }

    private func make(_ file: () throws -> Void) {
        do {
            try file()
        } catch {
            load.fail(
                with: LegacyFailure.make(
                    .cannotCreateFile, load.currentRequest.url, "The file for the download could not be made.",
                    underlying: error))
        }
    }

    func receives(piece: Data) {
        if transfer.isWriting { delegate?.download(download, didReceiveDataOfLength: piece.count) }
    }

    func ends(_ error: (any Error)?, file: URL?) {
        if let error {
            transfer.giveUp()
            delegate?.download(download, didFailWithError: error)
        } else {
            transfer.finish()
            delegate?.downloadDidFinish(download)
        }
    }

    /// A response begins the file anew: the pieces of the response from before must lie there by then.
    func prepareResponse(then: @escaping @Sendable () -> Void) { writing.async { then() } }

    func prepare(_ piece: Data, then: @escaping @Sendable () -> Void) {
        writing.async { [self] in
            do {
                try transfer.write(piece)
            } catch {
                load.fail(with: failure(of: error))
            }
            then()
        }
    }

    func prepareEnd(then: @escaping @Sendable ((any Error)?) -> Void) {
        writing.async { [self] in
            do {
                try transfer.close()
                then(nil)
            } catch {
                then(failure(of: error))
            }
        }
    }

    private func failure(of error: any Error) -> URLError {
        if let failure = error as? URLError { return failure }
        let url = load.currentRequest.url
        // Foundation's errors are the file's, all others the decoder's (B9.12).
        return error is CocoaError || error is POSIXError
            ? LegacyFailure.make(
                .cannotWriteToFile, url, "The file for the download could not be written.", underlying: error)
            : LegacyFailure.make(
                .downloadDecodingFailedMidStream, url, "The file could not be decoded: \(error)")
    }

    // What a download does not tell.

    func hasSent(_ count: Int64, total: Int64, expected: Int64) {}

    func bodyStream(for request: URLRequest) -> InputStream? { nil }

    /// The file is what is kept.
    func stores(_ response: CachedURLResponse) -> CachedURLResponse? { nil }

    func hasWritten(_ count: Int64, total: Int64, expected: Int64) {}
}
