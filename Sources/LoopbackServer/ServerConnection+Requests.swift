// What becomes of the requests of one connection: their bodies are kept, held up or stored, their
// answers looked up and begun.

import URLLoadingSystem
import URLLoadingWire

extension ServerConnection {
    /// A request begins.
    func headArrived(_ head: RequestHead) {
        incoming = IncomingRequest(head: head)
        requestNumber += 1
        core.figures.update { $0.requestsBegun += 1 }
        holdBody()
        if let uploads = core.options.uploads, case .taken(let heads) = uploads.begin(head, on: source) {
            incoming?.isUpload = true
            for head in heads { tell(head) }
            return
        }
        guard let early = core.options.earlyRouter, !player.isActive, let request = currentRequest,
            let response = early(request)
        else { return }
        incoming?.isAnswered = true
        answer(response, to: request)
    }

    /// Leaves its body unread where a gate is before that.
    private func holdBody() {
        guard let request = currentRequest, let gate = core.options.bodyGate?(request) else { return }
        incoming?.isHeld = true
        whenOpen(gate) { [requestNumber] in $0.readBody(of: requestNumber) }
    }

    /// Reads the body that a gate has held up.
    private func readBody(of request: Int) {
        guard isServing, request == requestNumber else { return }
        incoming?.isHeld = false
        serveInbox()
        readOn()
    }

    /// More of its body has come.
    func bodyArrived(_ bytes: UnsafeRawBufferPointer) {
        if incoming?.isUpload ?? false, let uploads = core.options.uploads {
            switch uploads.receive(bytes, on: source) {
            case .more: return
            case .tell(let head): return tell(head)
            case .cut: return cut()
            }
        }
        let room = core.options.keptBodyBytes - (incoming?.body.count ?? 0)
        incoming?.body.append(contentsOf: bytes.prefix(max(room, 0)))
        incoming?.bodyByteCount += Int64(bytes.count)
    }

    /// All of it has come.
    func requestArrived() {
        guard let request = currentRequest, let isAnswered = incoming?.isAnswered,
            let isUpload = incoming?.isUpload
        else { return }
        incoming = nil
        core.figures.update { $0.requests += 1 }
        if isUpload {
            guard let response = core.options.uploads?.finish(on: source) else { return cut() }
            return answer(response, to: request)
        }
        if player.awaitsRequest {
            player.resume()
            play()
        } else if !isAnswered {
            answer(core.router(request), to: request)
        }
    }

    /// Sends an informational answer while the request still comes.
    private func tell(_ head: ResponseHead) {
        var bytes: [UInt8] = []
        guard !player.isActive, (try? ResponseEncoder.encode(head, framing: .none, into: &bytes)) != nil else { return }
        // A client that lets the kernel's buffer fill with these does not read at all.
        if bytes.withUnsafeBytes({ channel.send($0) }) < bytes.count { cut() }
    }

    private var source: RequestSource { RequestSource(connection: number) }

    private var currentRequest: ServerRequest? {
        guard let incoming else { return nil }
        return ServerRequest(
            head: incoming.head, body: incoming.body, bodyByteCount: incoming.bodyByteCount,
            trailers: incoming.trailers, connection: number, number: requestNumber, stream: nil,
            remoteAddress: channel.stream.remoteAddress, tls: channel.negotiated)
    }
}
