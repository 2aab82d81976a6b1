// Messages over one web socket and back: as many are sent as there are requests, and received at the same time.

import Foundation

#if FOUNDATION_NETWORKING
    import FoundationNetworking
#else
    import URLLoading
#endif

/// Sends binary messages to an echo; how long they are says the URL's query.
enum WebSocketTransfer {
    static func run(_ phase: Phase, at url: URL, by session: URLSession) async {
        #if FOUNDATION_NETWORKING
            Console.unsupported("web sockets")
        #else
            guard let size = url.query.flatMap({ Int($0) }) else { Console.unsupported("a URL without a size") }
            let task = session.webSocketTask(with: url)
            task.maximumMessageSize = size
            task.resume()
            let message = URLSessionWebSocketTask.Message.data(Data(repeating: 0x78, count: size))
            // How many are under way is the sockets' affair: the server's echo holds back a client that does not read.
            let sending = Task {
                var count = 0
                while phase.take(at: .now) != nil {
                    try await task.send(message)
                    count += 1
                }
                return count
            }
            do {
                var received = 0
                while true {
                    let start = Moment.now
                    guard case .data(let data) = try await task.receive(), data.count == size else {
                        phase.failed("not the message that was sent")
                        break
                    }
                    phase.finished(since: start, bytes: data.count)
                    received += 1
                    if received == phase.quota, try await sending.value == received { break }
                }
                task.cancel(with: .normalClosure, reason: nil)
            } catch {
                phase.failed("\(error)")
                task.cancel()
            }
        #endif
    }
}
