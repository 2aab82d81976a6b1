// What a case expects to have come over HTTP/2. What has not come yet is waited for, as long as the
// client has a connection.
//
// Must not know: other cases, and where results go.

import URLLoadingLoopbackServer
import URLLoadingWire

extension CaseRun {
    mutating func receivedHTTP2(_ line: HTTP2ReceivedLine) async throws {
        switch line.expectation {
        case .frame(let pattern, let parts):
            let start = seenFrames[line.server, default: 0]
            let sight = try await sight(of: line.server, connection: pattern.connection) {
                $0.place(of: pattern, from: start) != nil
            }
            guard let place = sight.place(of: pattern, from: start) else {
                let came = sight.frames.dropFirst(start).map(\.summary).joined(separator: "; ")
                throw CaseFailure("no \(pattern.kind) came, but \(came.isEmpty ? "nothing" : came)")
            }
            seenFrames[line.server] = place + 1
            try HTTP2Checks(sight: sight, place: place, words: stage.words).check(parts)
        case .none(let pattern):
            let sight = HTTP2Sight(frames: try stage.record(of: line.server).contents.frames)
            if let frame = sight.frames.first(where: pattern.fits) { throw CaseFailure("\(frame.summary) came") }
        case .count(let count, let pattern):
            let sight = try await sight(of: line.server, connection: pattern.connection) {
                $0.frames.count(where: pattern.fits) >= count
            }
            let came = sight.frames.count(where: pattern.fits)
            guard came == count else { throw CaseFailure("\(pattern.kind) came \(came) times, not \(count)") }
        case .streams(let count):
            let sight = try await sight(of: line.server) { $0.streams >= count }
            guard sight.streams == count else { throw CaseFailure("\(sight.streams) streams came, not \(count)") }
        case .closed(let count):
            let server = try stage.server(line.server)
            guard await server.wait(until: { $0.connectionsAccepted - $0.connectionsOpen >= count }) != nil else {
                throw CaseFailure("fewer than \(count) connections ended")
            }
        }
    }

    /// What has come at a server once that is as wanted, or no client is connected any more that could send it. A
    /// connection that is not there yet is waited for.
    private func sight(
        of name: String, connection: Int? = nil, when isWanted: @escaping @Sendable (HTTP2Sight) -> Bool
    ) async throws -> HTTP2Sight {
        let (server, record) = (try stage.server(name), try stage.record(of: name))
        await withTaskGroup { group in
            group.addTask { _ = await record.wait { isWanted(HTTP2Sight(frames: $0.frames)) } }
            group.addTask {
                _ = await server.wait { $0.connectionsAccepted >= connection ?? 1 && $0.connectionsOpen == 0 }
            }
            await group.next()
            group.cancelAll()
        }
        return HTTP2Sight(frames: record.contents.frames)
    }
}

extension HTTP2ReceivedFrame {
    /// Its type, flags and stream.
    fileprivate var summary: String {
        let name = type.map { "\($0)" } ?? String(header.type, radix: 16)
        let said = code.map { ", \($0)" } ?? ""
        return "\(name) with flags \(String(header.flags, radix: 16)) on \(header.stream)\(said)"
    }
}
