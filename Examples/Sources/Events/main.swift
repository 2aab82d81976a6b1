// Server-sent events, as they come: Events http://127.0.0.1:40123/

import Foundation
import URLLoading

guard CommandLine.arguments.count == 2, let site = URL(string: CommandLine.arguments[1]) else {
    print("usage: Events URL")
    exit(64)
}
var request = URLRequest(url: site.appending(path: "events"))
request.setValue("text/event-stream", forHTTPHeaderField: "Accept")

let (bytes, _) = try await URLSession.shared.bytes(for: request)
for try await line in bytes.lines where line.hasPrefix("data: ") {
    print("event:", line.dropFirst("data: ".count))
}
print("the server has no more of them")
