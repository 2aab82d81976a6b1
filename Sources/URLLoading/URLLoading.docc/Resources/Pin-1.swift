// Loads a page from a server whose keys are known beforehand: pinned URL PIN RESERVE

import Foundation
import URLLoading

guard CommandLine.arguments.count == 4, let url = URL(string: CommandLine.arguments[1]),
    let host = url.host()
else {
    print("usage: pinned URL PIN RESERVE")
    exit(64)
}
let (current, reserve) = (CommandLine.arguments[2], CommandLine.arguments[3])

let session = URLSession(configuration: .default)
let (data, _) = try await session.data(from: url)
print("\(data.count) bytes from \(host)")
