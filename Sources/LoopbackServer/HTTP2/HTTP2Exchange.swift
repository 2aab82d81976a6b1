// A request that has come on a stream, and how far its answer is. It decides nothing: the conversation does.

import URLLoadingSystem
import URLLoadingWire

/// What the server knows of one stream.
final class HTTP2Exchange {
    let id: HTTP2StreamID
    let head: RequestHead
    /// The number of the request on its connection.
    let number: Int

    // The request.
    var body: [UInt8] = []
    var bodyByteCount: Int64 = 0
    var requestTrailers = Fields()
    var isWhole = false
    /// Whether the server's upload store takes the body and answers.
    var isUpload = false
    /// The number of the pause in which its body stays unread; nil while it is read.
    var holdPause: Int?
    /// What has come of the body meanwhile.
    var heldBytes = 0

    // The answer.
    var isAnswered = false
    var outgoing = HTTP2Body(.bytes([]))
    /// What follows the pauses in `outgoing`.
    var postponed: HTTP2Message?
    /// How many bytes its frames are held against.
    var declared = HTTP2DeclaredLength.none
    var trailers = Fields()
    var breakOff: ServerResponse.BreakOff?
    var sentBytes: Int64 = 0
    /// The number of the pause that the body is in; nil while it is in none.
    var pause: Int?
    /// For pauses of a certain length.
    lazy var timer = conversation.connection.core.reactor.makeTimer { [weak self] in self?.timeHasCome() }

    private unowned let conversation: HTTP2Conversation

    init(id: HTTP2StreamID, head: RequestHead, number: Int, in conversation: HTTP2Conversation) {
        self.id = id
        self.head = head
        self.number = number
        self.conversation = conversation
    }

    private func timeHasCome() {
        conversation.pauseEnded(of: self)
        conversation.flush()
    }
}
