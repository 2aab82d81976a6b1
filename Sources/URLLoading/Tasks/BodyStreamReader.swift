// Reads a request's body stream, on a thread that may block.
//
// The whole stream is read into memory before anything is sent, without limit. Sending a stream as it is read comes
// with upload tasks.

import Foundation

/// Reads body streams.
enum BodyStreamReader {
    /// Everything that the request's stream holds: with a Content-Length of the application's, exactly that much
    /// (B5.28, B5.29).
    static func content(of request: URLRequest) -> Result<Data, URLError> {
        guard let stream = request.httpBodyStream else { return .success(Data()) }
        let announced = request.value(forHTTPHeaderField: "Content-Length").flatMap { Int($0) }.flatMap {
            $0 >= 0 ? $0 : nil
        }
        stream.open()
        defer { stream.close() }
        var content = Data()
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        while content.count < announced ?? .max {
            let count = stream.read(&piece, maxLength: min(piece.count, (announced ?? .max) - content.count))
            if count < 0 {
                let error = LoadFailure.bodyStreamExhausted(
                    request.url, "The request's body stream could not be read.", underlying: stream.streamError)
                return .failure(error)
            }
            if count == 0 { break }
            content.append(contentsOf: piece.prefix(count))
        }
        if let announced, content.count < announced {
            return .failure(
                LoadFailure.bodyStreamExhausted(
                    request.url,
                    "The request's body stream ended after \(content.count) of \(announced) announced bytes."))
        }
        return .success(content)
    }
}
