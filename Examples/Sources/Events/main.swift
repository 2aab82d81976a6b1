// Server-sent events, as they come: Events http://127.0.0.1:40123/

import Foundation
import URLLoading

guard CommandLine.arguments.count == 2, let site = URL(string: CommandLine.arguments[1]) else {
    print("usage: Events URL")
    exit(64)
}
var events = URLSession.shared.serverSentEvents(from: site.appending(path: "events"))
// This server has said everything when its answer ends; others are asked to go on.
events.reconnects = false
for try await event in events {
    print("event:", event.data)
}
print("the server has no more of them")
