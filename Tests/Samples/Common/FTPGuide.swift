// The code of docs/ftp.md, which SampleTests looks for here block by block.

import Foundation
import URLLoading

/// A list, a file and an upload.
public func visitFTP(in session: URLSession, notes: URL) async throws -> (Data, URL, URLResponse) {
    // swift-format-ignore: NeverForceUnwrap
    let (list, _) = try await session.data(from: URL(string: "ftp://ftp.example.org/pub/")!)
    // swift-format-ignore: NeverForceUnwrap
    let (file, response) = try await session.download(from: URL(string: "ftp://ftp.example.org/pub/notes.txt")!)
    // swift-format-ignore: NeverForceUnwrap
    let place = URLRequest(url: URL(string: "ftps://me@ftp.example.org/incoming/notes.txt")!)
    _ = try await session.upload(for: place, fromFile: notes)
    return (list, file, response)
}
