// Bodies from and to files.

import Foundation

#if FOUNDATION_NETWORKING
    import FoundationNetworking
#else
    import URLLoading
#endif

/// Downloads to a file and uploads from one.
enum FileTransfers {
    static func save(_ url: URL, to path: String?, by session: URLSession) async throws -> Int {
        guard let path else { Console.unsupported("save without --file") }
        let (temporary, response) = try await session.download(from: url)
        try SessionClient.check(response)
        let attributes = try FileManager.default.attributesOfItem(atPath: temporary.path)
        let target = URL(fileURLWithPath: path)
        try? FileManager.default.removeItem(at: target)
        try FileManager.default.moveItem(at: temporary, to: target)
        return (attributes[.size] as? NSNumber)?.intValue ?? 0
    }

    static func upload(_ path: String?, to url: URL, by session: URLSession) async throws -> Int {
        guard let path else { Console.unsupported("upload without --file") }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        let (body, response) = try await session.upload(for: request, fromFile: URL(fileURLWithPath: path))
        try SessionClient.check(response)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return ((attributes[.size] as? NSNumber)?.intValue ?? 0) + body.count
    }
}
