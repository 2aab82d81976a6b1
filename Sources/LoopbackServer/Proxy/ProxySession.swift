// One client of the proxy: reads what it wants, by HTTP or by SOCKS, and carries bytes both ways between it and the
// server. Bounded in both directions: a side that does not read stops the other one. Confined to the proxy's loop.

import URLLoadingSystem
import URLLoadingTLS
import URLLoadingWire

/// One connection to the proxy, and at most one from it.
final class ProxySession: ByteStreamObserver {
    private enum State {
        /// Nothing has been said yet: the first byte tells in which language.
        case silent
        case http(HTTPProxyRequests)
        case socks(SOCKSProxyRequests)
        /// The server is being connected to, for a tunnel that then begins with these bytes.
        case opening(success: [UInt8])
        case tunnel
        /// Nothing is answered any more.
        case mute
    }

    let number: Int
    private let channel: ServerChannel
    private unowned let core: ProxyCore
    private var state = State.silent
    private var isClosed = false
    private var isPumping = false

    private var upstream: (any ByteStream)?
    private var attempt: (any DialAttempt)?
    /// From the client, decrypted and not looked at.
    private var inbox: [UInt8] = []
    private var toUpstream: ArraySlice<UInt8> = []
    private var toClient: ArraySlice<UInt8> = []
    private var clientHasEnded = false
    private var upstreamHasEnded = false
    private var closesWhenSent = false
    private var asksSoFar = 0

    init(number: Int, channel: ServerChannel, core: ProxyCore) {
        self.number = number
        self.channel = channel
        self.core = core
    }

    func begin() {
        channel.stream.observer = self
        pump()
    }

    func streamBecameReadable(_ stream: any ByteStream) { pump() }

    func streamBecameWritable(_ stream: any ByteStream) { pump() }

    /// Closes both sides at once.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        attempt?.cancel()
        upstream?.observer = nil
        upstream?.close()
        channel.stream.observer = nil
        channel.stream.close()
        core.closed(self)
    }

    // MARK: Moving bytes

    /// Moves what can be moved, until nothing can.
    private func pump() {
        guard !isPumping else { return }
        isPumping = true
        while !isClosed, moveOnce() {}
        isPumping = false
        if !isClosed { endIfDone() }
    }

    private func moveOnce() -> Bool {
        var hasMoved = readClient()
        serve()
        if writeUpstream() { hasMoved = true }
        if readUpstream() { hasMoved = true }
        if writeClient() { hasMoved = true }
        return hasMoved
    }

    private func readClient() -> Bool {
        guard !clientHasEnded, inbox.count < Self.limit, toUpstream.count < Self.limit,
            channel.stream.hasPendingInput
        else { return false }
        let buffer = core.reactor.receiveBuffer
        switch channel.stream.read(into: buffer) {
        case .bytes(let count): take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        case .wouldBlock: return false
        case .endOfStream: clientHasEnded = true
        case .failed: close()
        }
        return !isClosed
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        guard channel.isEncrypted else { return inbox.append(contentsOf: bytes) }
        var offset = 0
        if !channel.isEstablished {
            switch channel.handshake(bytes, offset: &offset) {
            case .notDone: return
            case .done: core.figures.update { $0.handshakes += 1 }
            case .failed:
                core.figures.update { $0.failedHandshakes += 1 }
                return close()
            }
        }
        while true {
            switch channel.decrypt(bytes, offset: &offset, into: core.plaintext) {
            case .bytes(let count): inbox.append(contentsOf: core.plaintext[..<count])
            case .needMore: return
            case .ended:
                clientHasEnded = true
                return
            case .failed: return close()
            }
        }
    }

    private func writeUpstream() -> Bool {
        guard let upstream, !toUpstream.isEmpty else { return false }
        switch toUpstream.withUnsafeBytes({ upstream.write($0) }) {
        case .bytes(let count):
            toUpstream = toUpstream.dropFirst(count)
            return true
        case .wouldBlock: return false
        case .endOfStream, .failed:
            toUpstream = []
            return false
        }
    }

    private func readUpstream() -> Bool {
        guard let upstream, !upstreamHasEnded, toClient.count < Self.limit, upstream.hasPendingInput else {
            return false
        }
        let buffer = core.reactor.receiveBuffer
        switch upstream.read(into: buffer) {
        case .bytes(let count): received(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        case .wouldBlock: return false
        case .endOfStream: upstreamEnded()
        case .failed: close()
        }
        return !isClosed
    }

    private func writeClient() -> Bool {
        guard !toClient.isEmpty else {
            channel.flush()
            return false
        }
        let sent = toClient.withUnsafeBytes { channel.send($0) }
        toClient = toClient.dropFirst(sent)
        return sent > 0
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        toClient.append(contentsOf: bytes)
        guard case .http(let requests) = state else { return }
        switch requests.answered(bytes) {
        case .goesOn: break
        case .whole: leaveUpstream()
        case .broken: closesWhenSent = true
        }
    }

    private func upstreamEnded() {
        upstreamHasEnded = true
        guard case .http = state else { return }
        // A body that ends with its connection, or less than a whole answer: the client sees the same end.
        closesWhenSent = true
    }

    private func leaveUpstream() {
        upstream?.observer = nil
        upstream?.close()
        upstream = nil
        upstreamHasEnded = false
    }

    /// Passes ends on once everything before them has been.
    private func endIfDone() {
        if channel.hasFailed { return close() }
        guard toClient.isEmpty, channel.flush() else { return }
        if closesWhenSent {
            channel.sendCloseNotify()
            return close()
        }
        guard case .tunnel = state else {
            if clientHasEnded { close() }
            return
        }
        if clientHasEnded, toUpstream.isEmpty { upstream?.shutdownWrite() }
        if upstreamHasEnded {
            channel.sendCloseNotify()
            channel.stream.shutdownWrite()
        }
        if upstreamHasEnded, clientHasEnded { close() }
    }

    // MARK: What the client wants

    private func serve() {
        while !closesWhenSent {
            switch state {
            case .silent:
                guard let first = inbox.first else { return }
                let isSOCKS = first == 4 || first == 5
                state = isSOCKS ? .socks(SOCKSProxyRequests(core.options.socksCredentials)) : .http(HTTPProxyRequests())
            case .socks(let requests):
                guard let wish = requests.next(&inbox) else { return }
                carryOut(wish)
            case .http(let requests):
                // Also without input: the end of a request may be all that is left to be told.
                guard let wish = requests.next(&inbox) else { return }
                carryOut(wish)
            case .tunnel:
                toUpstream.append(contentsOf: inbox)
                inbox = []
                return
            case .mute:
                inbox = []
                return
            case .opening:
                return
            }
        }
    }

    private func carryOut(_ wish: SOCKSProxyRequests.Wish) {
        switch wish {
        case .send(let bytes): toClient.append(contentsOf: bytes)
        case .refuse(let bytes):
            toClient.append(contentsOf: bytes)
            closesWhenSent = true
        case .open(let isVersion5, let host, let port):
            let kind: LoopbackProxy.Ask.Kind = isVersion5 ? .socks5 : .socks4
            guard isRelayed(kind, "\(host):\(port)", nil) else { return }
            open(
                host, port, success: SOCKSProxyRequests.reply(isVersion5, isOpen: true),
                failure: SOCKSProxyRequests.reply(isVersion5, isOpen: false))
        }
    }

    private func carryOut(_ wish: HTTPProxyRequests.Wish) {
        switch wish {
        case .upstream(let bytes): toUpstream.append(contentsOf: bytes)
        case .refuse(let text): answer(.text(text, thenClose: true))
        case .connect(let head, let host, let port):
            guard isAuthorized(head), isRelayed(.connect, head.target, head) else { return }
            let fields = core.options.openingFields(head)
            open(
                host, port, success: Array("HTTP/1.1 200 Connection established\r\n\(fields)\r\n".utf8),
                failure: Array(Self.badGateway.utf8))
        case .forward(let head, let message, let host, let port):
            guard isAuthorized(head), isRelayed(.forward, head.target, head) else { return }
            guard case .http(let requests) = state else { return }
            requests.isForwarding = true
            toUpstream = message[...]
            dial(host, port, failure: Array(Self.badGateway.utf8))
        }
    }

    /// Answers 407 where the right credentials are missing, unless a script has its say about each request.
    private func isAuthorized(_ head: RequestHead) -> Bool {
        guard let wanted = core.options.authorization, head.fields.first(.proxyAuthorization) != wanted else {
            return true
        }
        note(head.method == "CONNECT" ? .connect : .forward, head.target, head)
        answer(
            .text(
                "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: \(core.options.challenge)\r\n"
                    + "Content-Length: 5\r\n\r\nlogin"))
        return false
    }

    /// Asks the script; what it says other than to relay is done here.
    private func isRelayed(_ kind: LoopbackProxy.Ask.Kind, _ target: String, _ head: RequestHead?) -> Bool {
        let ask = note(kind, target, head)
        switch core.options.script?(ask) ?? .relay {
        case .relay: return true
        case let said: answer(said)
        }
        return false
    }

    @discardableResult
    private func note(_ kind: LoopbackProxy.Ask.Kind, _ target: String, _ head: RequestHead?) -> LoopbackProxy.Ask {
        asksSoFar += 1
        let ask = LoopbackProxy.Ask(kind: kind, connection: number, number: asksSoFar, target: target, head: head)
        core.log.note(ask)
        return ask
    }

    private func answer(_ answer: LoopbackProxy.Answer) {
        switch answer {
        case .relay: break
        case .silence: state = .mute
        case .send(let bytes, let thenClose):
            toClient.append(contentsOf: bytes)
            if thenClose { closesWhenSent = true }
        }
    }

    // MARK: The server

    private func open(_ host: String, _ port: Int, success: [UInt8], failure: [UInt8]) {
        state = .opening(success: success)
        dial(host, port, failure: failure)
    }

    private func dial(_ host: String, _ port: Int, failure: [UInt8]) {
        guard let address = core.address(of: host, port: port) else { return dialled(nil, failure) }
        attempt = core.dialer.dial(address, options: DialOptions()) { [weak self] result in
            self?.dialled(try? result.get(), failure)
        }
    }

    private func dialled(_ stream: (any ByteStream)?, _ failure: [UInt8]) {
        attempt = nil
        guard let stream else {
            toClient.append(contentsOf: failure)
            closesWhenSent = true
            return pump()
        }
        upstream = stream
        stream.observer = self
        if case .opening(let success) = state {
            toClient.append(contentsOf: success)
            state = .tunnel
        }
        pump()
    }

    private static let badGateway = "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    private static let limit = 256 << 10
}
