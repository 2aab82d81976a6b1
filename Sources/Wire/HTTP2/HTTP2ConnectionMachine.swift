// The course of one HTTP/2 connection, at either end: which streams there are, what may be sent when, what the peer's
// frames mean, and how it ends. Behaviour H2.4, H2.7, H3.5 to H3.7, H4 to H10. It must not know sockets, fields,
// HPACK's tables, which request waits for what, nor what time it is: times are arguments, counted from any fixed moment
// of the driver's. RFC 9113.
//
// The driver's rules:
// 1. Events come in by the functions. After each one `nextAction` is pulled until there is none, then `nextPiece` is
//    asked while there is room for bodies. What `takeOutput` and `writePiece` append is written in that order; at the
//    end of a turn at the latest, so that what begins a connection and its first request leave together (H10.2).
// 2. Bytes are given to `received` again, with actions pulled between, while it answers true. Ranges in actions are
//    offsets into these bytes and hold until the next call.
// 3. The driver decodes header blocks: all of each, also those that are discarded, since the table of the compression
//    has to follow. When a block has ended it says by `blockDecoded` what it was, before it gives on more bytes.
// 4. A request is `open`, encode, `sendBlock` within one turn, an answer encode, `sendBlock`: so the order of encoding
//    is the order of writing (H3.10). `isOpen` is asked before anything is encoded.
// 5. What of a body was taken is told by `taken`, sooner or later, or the peer has to wait.
// 6. Each stream gets exactly one `closed`, its last action. After `failed` or `finished` what is left to be written is
//    tried, and the connection is closed.
//
// The parts: +Frames hears what comes, +Blocks brings heads in and out, +Bodies sends bodies, +Windows takes them in,
// +Streams opens and ends streams, +Ends the whole, and +Time looks at the clock it is given.

/// The decisions of one HTTP/2 connection.
package struct HTTP2ConnectionMachine: ~Copyable {
    /// What is to be done, in order.
    package enum Action: Sendable, Equatable {
        /// There are bytes to be written: `takeOutput`.
        case send
        /// A header block begins.
        case blockBegins(HTTP2Block)
        /// Bytes of the block, as offsets into the bytes given.
        case block(Range<Int>)
        /// The block is complete and took so many bytes on the wire, frame headers included (H6.6): `blockDecoded`.
        case blockEnds(byteCount: Int)
        /// The block that was decoded last is lawful: a head or trailers of this stream.
        case head(HTTP2StreamID, HTTP2HeadKind)
        /// Bytes of the stream's body, as offsets into the bytes given: `taken`.
        case data(HTTP2StreamID, Range<Int>)
        /// The message that is received on the stream is whole.
        case messageEnds(HTTP2StreamID)
        /// The stream is over; its place is another's from now on. It may be one of the peer's of which no more than
        /// the beginning of a block has been told.
        case closed(HTTP2StreamID, HTTP2StreamEnd)
        /// The peer has said how large the table may be that we encode with: first this smallest size, then the last.
        case encoderTableChanged(smallest: UInt32, size: UInt32)
        /// The peer has acknowledged the size of the table that we decode with, where it is not the usual one.
        case decoderTableChanged(size: UInt32)
        /// So many streams may be open at once from now on; 0 while the connection is suspect (H6.4).
        case capacityChanged(Int)
        /// No stream can be opened any more, by a GOAWAY with this code or because the numbers are used up; those that
        /// are open go on (H7.1).
        case draining(HTTP2ErrorCode)
        /// `timerFired` is wanted at this time instead of any earlier setting; nil: not any more.
        case setTimer(Duration?)
        /// The peer has broken the rules, or is gone: the connection is closed once its last bytes were tried (H8).
        case failed(HTTP2Fault)
        /// The connection is of no more use, and neither side has done anything wrong.
        case finished
    }

    enum Phase {
        case fresh
        case running
        /// `failed` or `finished` was said.
        case ended
    }

    let role: HTTP2Role
    let limits: HTTP2Limits
    var phase = Phase.fresh
    var actions = HTTP2ActionLine()
    var decoder: HTTP2FrameDecoder

    // What is to be written.
    var output: [UInt8] = []
    /// Whether the driver was told that there is some.
    var isOutputAnnounced = false

    // How the two ends want to be spoken to.
    let ourSettings: HTTP2Settings
    /// What the peer has said so far.
    package internal(set) var peerSettings = HTTP2Settings()
    var hasPeerSettings = false
    var areOurSettingsAcknowledged = false

    // Streams.
    var streams = HTTP2StreamTable()
    var turns = HTTP2SendTurns()
    /// The number of the next stream that we open; above the largest when there is none.
    var nextNumber: UInt32
    /// The highest number that the peer has opened.
    var highestPeerNumber: UInt32 = 0
    /// The stream that was opened and whose HEADERS are to be written before another one is opened.
    var unwritten: HTTP2StreamID?
    var resets = HTTP2ResetMemory()

    // What is being received.
    var incomingBlock: IncomingBlock?
    /// The stream of the DATA frame that is being received; nil if it is discarded.
    var incomingBody: HTTP2StreamID?
    var incomingBodyEndsStream = false

    // Windows of the connection.
    var sendWindow = HTTP2FlowWindow(HTTP2ConnectionMachine.initialWindow)
    var receiveWindow = HTTP2ReceiveWindow(size: HTTP2ConnectionMachine.initialWindow)
    let wantedWindow: Int
    var growth = HTTP2WindowGrowth()

    // Ends.
    var budget: HTTP2FloodBudget
    var isDraining = false
    /// The last-stream-id of the peer's GOAWAY; streams above it were turned away.
    var peerLast: UInt32 = HTTP2FlowWindow.largest
    /// Whether the peer has refused a stream.
    var hasRefused = false
    /// The last-stream-id of ours; what comes on streams above it is discarded.
    var ourLast: UInt32 = HTTP2FlowWindow.largest

    // Time.
    var heartbeat = HTTP2Heartbeat(now: .zero)
    var pingsWithNextHead = false
    /// What the driver's timer is set to, as far as this machine said.
    var timer: Duration?
    var announcedCapacity: Int
    /// How many streams may be open before the peer's settings have come.
    let capacityBeforeSettings: Int

    /// Makes a connection on which nothing was said.
    ///
    /// `connectionWindow` is the window for all streams together, at least the 65,535 bytes that it begins with.
    /// `firstNumber` is the number of the first stream that is opened. `lastCapacity` is how many an earlier connection
    /// to this server let be open at once, where one has: so many may be open before its settings come.
    package init(
        role: HTTP2Role, settings: HTTP2Settings, connectionWindow: UInt32 = 16 * 1024 * 1024,
        firstNumber: UInt32 = 1, lastCapacity: Int? = nil, limits: HTTP2Limits = HTTP2Limits()
    ) {
        self.role = role
        self.limits = limits
        ourSettings = settings
        wantedWindow = Int(clamping: connectionWindow)
        nextNumber = firstNumber | 1
        budget = HTTP2FloodBudget(limits)
        decoder = HTTP2FrameDecoder(role, maximumFrameSize: settings.maximumFrameSize)
        capacityBeforeSettings = min(Self.mostBeforeSettings, lastCapacity ?? Self.mostBeforeSettings)
        announcedCapacity = role == .client ? capacityBeforeSettings : 0
    }

    /// RFC 9113 §6.9.2.
    static var initialWindow: UInt32 { 65_535 }
    /// H2.4.
    private static var mostBeforeSettings: Int { 100 }

    // MARK: Driver's side

    /// The transport is there: preface, settings and the connection's window go out.
    package mutating func start(now: Duration) {
        guard phase == .fresh else { return }
        phase = .running
        heartbeat = HTTP2Heartbeat(now: now)
        budget.begin(now: now)
        if role == .client { HTTP2FrameEncoder.encodePreface(into: &output) }
        HTTP2FrameEncoder.encode(ourSettings, into: &output)
        writeUpdate(0, receiveWindow.grow(to: wantedWindow))
    }

    /// What is to be done next; nil when everything has been said.
    package mutating func nextAction() -> Action? {
        if !output.isEmpty, !isOutputAnnounced {
            isOutputAnnounced = true
            return .send
        }
        if let action = actions.next() { return action }
        guard phase == .running else { return nil }
        if isDraining {
            guard streams.isEmpty else { return timerToSet() }
            stop(.finished)
            return actions.next()
        }
        let capacity = capacity
        guard capacity == announcedCapacity else {
            announcedCapacity = capacity
            return .capacityChanged(capacity)
        }
        return timerToSet()
    }

    /// Appends what is to be written.
    package mutating func takeOutput(into out: inout [UInt8]) {
        isOutputAnnounced = false
        guard !output.isEmpty else { return }
        out.append(contentsOf: output)
        output.removeAll(keepingCapacity: output.capacity <= Self.keptOutput)
    }

    /// Everything that was appended has been written. To be said each time, before more is appended: or a peer that
    /// asks much would be taken for one that does not read the answers (H9.2).
    package mutating func outputEmptied() { budget.outputEmptied() }

    /// What had been appended when this or `outputEmptied` was said last has been written; more was appended since. To
    /// be said now and then by a driver that appends before all is written, as it does while a body is sent.
    package mutating func outputMarkPassed() { budget.outputMarkPassed() }

    /// A buffer that has grown beyond this is given back when it is empty.
    private static var keptOutput: Int { 16 * 1024 }
}
