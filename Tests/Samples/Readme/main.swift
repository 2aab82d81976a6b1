// The first program of README.md, which SampleTests compares with it.

import Foundation
import URLLoading

let configuration = URLSessionConfiguration.default
configuration.timeoutIntervalForRequest = 10
let session = URLSession(configuration: configuration)

// swift-format-ignore: NeverForceUnwrap
let (data, response) = try await session.data(from: URL(string: "https://example.com/")!)
if let http = response as? HTTPURLResponse, http.statusCode == 200 {
    print(String(decoding: data, as: UTF8.self))
}
