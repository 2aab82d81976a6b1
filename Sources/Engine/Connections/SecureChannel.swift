// A stream, with TLS in it or without: the one place that encrypts and decrypts, that keeps ciphertext which cannot be
// decrypted yet, and that sends what TLS has to say.
//
// It calls nothing back: what comes of a call is its result, so that a call may come from within the work that another
// one has led to. Its reader and writer watches the stream itself (`ByteStreamObserver`), and is told by it, too, that
// a write may be tried again which had to wait for something to be read.
//
// Must not know: what the bytes mean, how the session came to be verified, which tasks the loop serves.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS

/// One connection's bytes, decrypted.
final class SecureChannel {
    // `@exclusivity(unchecked)`: as in `Transaction`.

    /// What carries the bytes.
    let stream: any ByteStream
    /// What encrypts them; nil where nothing does.
    let tls: TLSSession?
    /// How many channels are below this one.
    let level: Int
    /// Where what is read from it arrives.
    let buffers: LoopBuffers
    /// Ciphertext that has come and waits to be decrypted.
    @exclusivity(unchecked) private var held: [UInt8] = []
    /// What the last read has cost the loop, in bytes; 0 without TLS. It may bring less than that, or nothing: messages
    /// of TLS itself, each of which is as dear as a read.
    @exclusivity(unchecked) private(set) var readPrice = 0
    /// Why nothing more can be sent.
    @exclusivity(unchecked) private(set) var outputFailure: SystemError?
    /// Whether the writer, or the end of our direction, waits for the rest of a message of TLS itself.
    @exclusivity(unchecked) private var isHeldUp = false
    /// How many bytes the stream has taken; it begins anew when it is full.
    @exclusivity(unchecked) private(set) var bytesSent = 0

    /// What a read has found.
    enum Input {
        /// So many bytes; none where all that came were messages of TLS itself.
        case bytes(Int)
        case wouldBlock
        /// No more will come. Under TLS the peer has said so, or it is not whole: an attacker may have cut it off.
        case end(isWhole: Bool)
        case failed(SystemError)
        case broken(TLSError)
    }

    /// What became of a write.
    enum Output {
        /// So many bytes are out, or wait in TLS and go before what is written next.
        case bytes(Int)
        case wouldBlock
        case failed(SystemError)
        case broken(TLSError)
    }

    /// What became of a write of a file's bytes.
    enum FileOutput {
        case output(Output)
        /// The file cannot give what was asked for.
        case file(FileReadFailure)
        /// The bytes are not in memory: to encrypt them here, the loop would have to wait for a disk.
        case notInMemory
    }

    /// A channel over a connected stream.
    init(_ stream: any ByteStream, tls: TLSSession? = nil, buffers: LoopBuffers) {
        self.stream = stream
        self.tls = tls
        self.buffers = buffers
        level = tls == nil ? 0 : (stream as? TLSStream).map { $0.level + 1 } ?? 0
    }

    /// How the server was accepted. What a proxy has shown does not count: the answer is the server's.
    var acceptance: ServerAcceptance {
        guard let tls else { return .plain }
        if tls.hasIdentity { return .identified }
        return tls.peer?.isVouchedFor ?? true ? .vouchedFor : .evaluated
    }

    // MARK: Reading

    /// Keeps ciphertext that was read with the last message of the handshake; it comes before what the stream brings.
    func hold(_ ciphertext: some Sequence<UInt8>) {
        held.append(contentsOf: ciphertext)
        holdsInput = !held.isEmpty
    }

    /// Whether something was read from the stream that has not been decrypted, or the end is known and was not told.
    @exclusivity(unchecked) private(set) var holdsInput = false

    /// Whether there may be something to read. No system call.
    var hasPendingInput: Bool { stream.hasPendingInput || holdsInput }

    /// Whether the connection stands and nothing is there to read. One system call.
    func isQuiet() -> Bool { !holdsInput && stream.isQuiet() }

    /// Reads once.
    @inline(__always)
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Input {
        if let tls { return readSealed(tls, into: buffer) }
        return switch stream.read(into: buffer) {
        case .bytes(let count): .bytes(count)
        case .wouldBlock: .wouldBlock
        case .endOfStream: .end(isWhole: true)
        case .failed(let error): .failed(error)
        }
    }

    private func readSealed(_ tls: TLSSession, into buffer: UnsafeMutableRawBufferPointer) -> Input {
        readPrice = 0
        if holdsInput {
            let ciphertext = held
            held = []
            let input = ciphertext.withUnsafeBytes { decrypt($0, tls, into: buffer) }
            if case .bytes(0) = input {} else { return input }
        }
        // Not more than there is room for when it is decrypted: all that has come then becomes one piece.
        let space = buffers.sealed(level: level).space(atLeast: buffer.count)
        let part = UnsafeMutableRawBufferPointer(rebasing: space.prefix(buffer.count))
        return switch stream.read(into: part) {
        case .bytes(let count): decrypt(UnsafeRawBufferPointer(rebasing: part[..<count]), tls, into: buffer)
        case .wouldBlock: .wouldBlock
        case .endOfStream: inputCut(tls)
        case .failed(let error): .failed(error)
        }
    }

    /// The stream has ended without a word of TLS's. What waits for the rest of a message can never be written.
    private func inputCut(_ tls: TLSSession) -> Input {
        if tls.isHeldUp {
            outputFailure = outputFailure ?? .brokenProtocol(in: "SSL_write")
            if isHeldUp { letWriterGoOn() }
        }
        return .end(isWhole: false)
    }

    private func decrypt(
        _ ciphertext: UnsafeRawBufferPointer, _ tls: TLSSession, into buffer: UnsafeMutableRawBufferPointer
    ) -> Input {
        var offset = 0
        let waiting = tls.outgoingCount
        let step = tls.decrypt(ciphertext, offset: &offset, into: buffer)
        readPrice += max(offset, tls.messagesMet * ReadingTurn.leastPrice)
        if offset < ciphertext.count { held.append(contentsOf: ciphertext[offset...]) }
        // A message between the data may want an answer, a failure an alert. The handshake's last message waits for the
        // first write, and is one segment with it.
        if tls.outgoingCount > waiting { sendOutgoing() }
        if isHeldUp, !tls.isHeldUp { letWriterGoOn() }
        switch step {
        case .plaintext(let count):
            // The end may have come behind it.
            holdsInput = !held.isEmpty || tls.hasBufferedInput || tls.hasReadEnd
            return .bytes(count)
        case .needInput:
            holdsInput = !held.isEmpty
            return .bytes(0)
        case .closed:
            holdsInput = true
            return .end(isWhole: true)
        case .failed(let error):
            holdsInput = true
            return .broken(error)
        }
    }

    /// Has the writer told that it may go on, as the stream tells it: not from within this read.
    private func letWriterGoOn() {
        isHeldUp = false
        buffers.reactor.later { [weak self] in
            guard let self else { return }
            stream.observer?.streamBecameWritable(stream)
        }
    }

    // MARK: Writing

    /// Writes as much of two pieces in a row as can be taken now, with one system call; each may be empty.
    @inline(__always)
    func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Output {
        if let tls { return writeSealed(first, second, tls) }
        if second.isEmpty { return sent(stream.write(first)) }
        if first.isEmpty { return sent(stream.write(second)) }
        return sent(stream.write(first, second))
    }

    private func writeSealed(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ tls: TLSSession
    ) -> Output {
        // Order: the little that may wait leaves together with what is written now, so that the end of a handshake and
        // the first request are one segment. More goes first: a writer stops when the peer does not read.
        if tls.outgoingCount > Self.mostJoined, let obstacle = sendOutgoing() { return obstacle }
        let count = first.count + second.count
        var taken = count
        let obstacle: Output?
        if first.isEmpty || second.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: (first.isEmpty ? second : first).prefix(Self.encryptedAtOnce))
            taken = piece.count
            obstacle = encrypt(piece, tls)
        } else if count <= Self.record {
            // One record for both.
            let joined = UnsafeMutableRawBufferPointer(
                rebasing: buffers.sealed(level: level).space(atLeast: count)[..<count])
            joined.copyMemory(from: first)
            UnsafeMutableRawBufferPointer(rebasing: joined[first.count...]).copyMemory(from: second)
            obstacle = encrypt(UnsafeRawBufferPointer(joined), tls)
        } else {
            // Records of their own, and one system call for all.
            let head = UnsafeRawBufferPointer(rebasing: first.prefix(Self.encryptedAtOnce))
            taken = head.count
            obstacle = encrypt(head, tls)
            if obstacle == nil, taken == first.count {
                // The end of a chunk is not worth a call of its own.
                let isNearlyAll = second.count <= Self.encryptedAtOnce + Self.mostJoined
                let piece = isNearlyAll ? second : UnsafeRawBufferPointer(rebasing: second.prefix(Self.encryptedAtOnce))
                // What is wrong with it is told when it is written next, alone.
                if encrypt(piece, tls) == nil { taken += piece.count }
            }
        }
        if let obstacle { return obstacle }
        if case .failed(let error)? = sendOutgoing() { return .failed(error) }
        return .bytes(taken)
    }

    /// Writes as much of a part of a file as can be taken now; the kernel moves it where nothing has to be encrypted.
    func write(_ file: OpenFile, at offset: Int64, count: Int) -> FileOutput {
        guard let tls else {
            switch stream.write(file, at: offset, count: min(count, Self.fileBytesAtOnce)) {
            case .stream(let result): return .output(sent(result))
            case .file(let failure): return .file(failure)
            }
        }
        if let obstacle = sendOutgoing() { return .output(obstacle) }
        return withUnsafeTemporaryAllocation(byteCount: min(count, Self.encryptedAtOnce), alignment: 16) { buffer in
            guard let read = file.readCached(at: offset, into: buffer) else { return .notInMemory }
            if let obstacle = encrypt(UnsafeRawBufferPointer(rebasing: buffer[..<read]), tls) {
                return .output(obstacle)
            }
            if case .failed(let error)? = sendOutgoing() { return .output(.failed(error)) }
            return .output(.bytes(read))
        }
    }

    /// Whether TLS has something to send.
    var hasOutgoing: Bool { tls?.hasOutgoing ?? false }

    /// Sends what TLS has to send; what kept it from sending all of it, if something did.
    @discardableResult
    func sendOutgoing() -> Output? {
        guard let tls else { return nil }
        if let outputFailure { return .failed(outputFailure) }
        while tls.hasOutgoing {
            switch sent(tls.withOutgoing { stream.write($0) }) {
            case .bytes(let count): tls.outgoingSent(count)
            case .failed(let error):
                outputFailure = error
                return .failed(error)
            case .wouldBlock, .broken: return .wouldBlock
            }
        }
        return nil
    }

    /// Encrypts all of it; what kept TLS from taking it, if something did.
    private func encrypt(_ plaintext: UnsafeRawBufferPointer, _ tls: TLSSession) -> Output? {
        if let outputFailure { return .failed(outputFailure) }
        do throws(TLSError) {
            try tls.encrypt(plaintext)
            return nil
        } catch {
            isHeldUp = tls.isHeldUp
            return isHeldUp ? .wouldBlock : .broken(error)
        }
    }

    @inline(__always)
    private func sent(_ result: IOResult) -> Output {
        switch result {
        case .bytes(let count):
            bytesSent &+= count
            return .bytes(count)
        case .wouldBlock, .endOfStream: return .wouldBlock
        case .failed(let error): return .failed(error)
        }
    }

    // MARK: End

    /// Tells the peer that nothing more will be sent; whether the stream below is done with, too. Where it is not, it
    /// is to be called again when the stream can be written to.
    func finishWriting() -> Bool {
        if let tls {
            tls.close()
            isHeldUp = tls.isHeldUp && outputFailure == nil
        }
        return !isHeldUp && sendOutgoing() == nil
    }

    /// Closes the stream; `politely` says goodbye first, which only makes sense where all that was begun is out.
    func close(politely: Bool) {
        if politely, let tls, tls.peer != nil {
            tls.close()
            sendOutgoing()
        }
        held = []
        stream.observer = nil
        stream.close()
    }

    /// So little that it waits for what is written next.
    private static let mostJoined = 1024
    /// The plaintext of a full record.
    private static let record = 16 << 10
    /// Measured: four full records a call halve the system calls of a large upload; more gain nothing.
    private static let encryptedAtOnce = 4 * record
    private static let fileBytesAtOnce = 1 << 20
}
