// Messages there and back: WebSocket ws://127.0.0.1:40123/echo

import Foundation
import URLLoading

guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
    print("usage: WebSocket URL")
    exit(64)
}
let task = URLSession.shared.webSocketTask(with: url)
task.resume()
for text in ["one", "two", "three"] {
    try await task.send(.string(text))
    guard case .string(let answer) = try await task.receive() else { throw URLError(.cannotParseResponse) }
    print("there: \(text), back: \(answer)")
}
task.cancel(with: .normalClosure, reason: nil)
