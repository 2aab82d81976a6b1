// Downloads from nginx that are cut and go on: its access log says what was asked.

import Foundation
import Testing
import URLLoading
import URLLoadingTestSupport

@Suite("Downloads from nginx", .enabled(if: Peers.nginx != nil, "nginx is not installed"))
struct NginxDownloadTests {
    @Test("B9.26, B9.27: a download that was cancelled for data goes on with 206, and the file is what it should be")
    func resumed() async throws {
        let nginx = try await Nginx()
        let text = String(repeating: "0123456789abcde\n", count: 2_500_000)
        try nginx.directory.write(text, to: "www/large")
        let session = URLSession(configuration: .ephemeral)
        var request = URLRequest(url: try nginx.url("http", nginx.plain, "/large"))
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        let cutter = Cutter()
        var failure: URLError?
        do {
            let (location, _) = try await session.download(for: request, delegate: cutter)
            try FileManager.default.removeItem(at: location)
        } catch {
            failure = error as? URLError
        }
        let data = try #require(failure?.downloadTaskResumeData)
        let (location, response) = try await session.download(resumeFrom: data)
        defer { try? FileManager.default.removeItem(at: location) }
        #expect((response as? HTTPURLResponse)?.statusCode == 206)
        let content = try Data(contentsOf: location)
        #expect(firstDifference(content, text.utf8) == nil)
        let log = try await nginx.log(2)
        #expect(log[0].contains("status=200 "), "\(log[0])")
        #expect(log[1].contains("status=206 "), "\(log[1])")
        session.invalidateAndCancel()
    }
}

/// Cancels a download for data when it has begun.
final class Cutter: NSObject, URLSessionDownloadDelegate {
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        downloadTask.cancel(byProducingResumeData: { _ in })
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {}
}
