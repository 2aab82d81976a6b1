// A server whose key is known beforehand: Pin https://127.0.0.1:40124/ AUTHORITY.pem PIN
//
// The pin is the key's SHA-256 in base64; docs/trust.md has the command that prints it.

import Foundation
import URLLoading

guard CommandLine.arguments.count == 4, let site = URL(string: CommandLine.arguments[1]), let host = site.host() else {
    print("usage: Pin URL AUTHORITY.pem PIN")
    exit(64)
}
let authority = try String(contentsOfFile: CommandLine.arguments[2], encoding: .utf8)
let pin = CommandLine.arguments[3]

func session(pins: [String]) -> URLSession {
    let configuration = URLSessionConfiguration.default
    configuration.serverTrustEvaluation = .perHost(
        [host: .pinnedKeys(pins, besides: .anchors(pem: authority))], otherwise: .system)
    return URLSession(configuration: configuration)
}

let (data, _) = try await session(pins: [pin]).data(from: site)
print("the key is the pinned one: \(String(decoding: data, as: UTF8.self))", terminator: "")

// A certificate of the same authority for the same name, but with another key, would look like this.
let other = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
do {
    _ = try await session(pins: [other]).data(from: site)
    print("any key will do?")
    exit(1)
} catch let error as URLError {
    print("another key is refused: \(error.localizedDescription)")
}
