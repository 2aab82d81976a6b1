// Data connections of the FTP server: one listener for each EPSV or PASV, one connection for each transfer.

import URLLoadingSystem
import URLLoadingTLS

extension FTPServerSession {
    func closeData() {
        listener?.close()
        listener = nil
        data?.close()
        data = nil
        isDataReady = false
        whenReady = nil
        received = []
        target = nil
        hasEnded = false
    }

    /// Listens on any port beside the control connection's.
    func listenForData(_ answer: (Int) -> String) {
        closeData()
        guard let here = control.localAddress?.with(port: 0),
            let listener = try? Listener(reactor: core.reactor, address: here)
        else { return reply("425 no port") }
        self.listener = listener
        listener.onAccept = { [unowned self] stream in accepted(stream) }
        reply(answer(listener.address.port ?? 0))
    }

    private func accepted(_ stream: SocketStream) {
        guard data == nil else { return stream.close() }
        let session = protects ? core.dataContext.flatMap { try? TLSSession(server: $0) } : nil
        let channel = FTPServerChannel(stream, session: session, core: core)
        data = channel
        channel.onReady = { [unowned self] isResumed in
            if channel.isEncrypted, core.options.requiresReuse, !isResumed {
                reply("522 the session must be reused")
                return closeData()
            }
            isDataReady = true
            whenReady?()
            whenReady = nil
        }
        channel.onBytes = { [unowned self] in received += $0 }
        channel.onEnd = { [unowned self] in ended() }
        channel.begin()
    }

    /// Runs once data may flow.
    private func onceReady(_ work: @escaping () -> Void) {
        if isDataReady { work() } else { whenReady = work }
    }

    /// Sends a file or a list.
    func give(_ bytes: [UInt8], _ transfer: FTPServer.Transfer) {
        guard listener != nil else { return reply("425 use EPSV first") }
        reply("150 here it comes")
        onceReady { [unowned self] in
            guard let data else { return }
            let (gate, number, loop) = (transfer.gate, number, core.reactor.loop)
            let first = transfer.cutAfter.map { Array(bytes.prefix($0)) }
            if let gate {
                data.send(first ?? [])
                let rest = Array(bytes.dropFirst(first?.count ?? 0))
                gate.whenOpen { [key = core.key] in
                    loop.run { reactor in
                        reactor.resident(key)?.session(number)?.finish(rest, transfer)
                    }
                }
            } else {
                finish(first ?? bytes, transfer)
            }
        }
    }

    private func finish(_ bytes: [UInt8], _ transfer: FTPServer.Transfer) {
        guard let data else { return }
        data.send(bytes)
        data.end(saysGoodbye: transfer.saysGoodbye) { [unowned self] in concluded(transfer) }
    }

    private func concluded(_ transfer: FTPServer.Transfer) {
        closeData()
        if transfer.closesControl { close() } else { reply(transfer.final) }
    }

    /// Receives a file.
    func take(to path: String, _ transfer: FTPServer.Transfer) {
        guard listener != nil else { return reply("425 use EPSV first") }
        target = (path, transfer)
        reply("150 go on")
        if hasEnded { ended() }
    }

    /// The client has ended the data connection.
    private func ended() {
        guard let (path, transfer) = target else {
            hasEnded = true
            return
        }
        core.log.store(received, at: path)
        concluded(transfer)
    }
}
