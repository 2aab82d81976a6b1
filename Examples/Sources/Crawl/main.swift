// All pages of a site, a few at a time: Crawl http://127.0.0.1:40123/pages/0

import Foundation
import URLLoading

/// The pages that a page leads to.
func links(of page: URL, in session: URLSession) async throws -> [URL] {
    let (data, response) = try await session.data(from: page)
    guard response.mimeType == "text/html" else { return [] }
    let text = String(decoding: data, as: UTF8.self)
    return text.matches(of: /href="([^"]+)"/).compactMap { URL(string: String($0.1), relativeTo: page)?.absoluteURL }
}

guard CommandLine.arguments.count == 2, let start = URL(string: CommandLine.arguments[1]) else {
    print("usage: Crawl URL")
    exit(64)
}
// The session keeps to six connections for each host; the others wait.
let session = URLSession(configuration: .ephemeral)
let atOnce = 8
var seen: Set<URL> = [start]
var waiting = [start]

try await withThrowingTaskGroup { group in
    var running = 0
    while true {
        while running < atOnce, let page = waiting.popLast() {
            running += 1
            group.addTask { try await links(of: page, in: session) }
        }
        guard let found = try await group.next() else { break }
        running -= 1
        for link in found where link.host() == start.host() && seen.insert(link).inserted { waiting.append(link) }
    }
}
print("\(seen.count) pages")
