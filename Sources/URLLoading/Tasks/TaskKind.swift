// What kind of task the user sees, and what such a task is asked to do besides loading.

/// The kind of a task.
struct TaskKind: Sendable {
    /// Its name.
    enum Name: Sendable {
        case data, upload, stream, webSocket, warmUp
    }

    let name: Name
    // One plain reference: the cases of an enum would hide which of two classes it is in the bits of the address, where
    // tools that look for lost memory do not find it.
    private let calls: (any AnyObject & Sendable)?

    private init(_ name: Name, _ calls: (any AnyObject & Sendable)? = nil) {
        self.name = name
        self.calls = calls
    }

    /// It brings an answer.
    static var data: TaskKind { TaskKind(.data) }

    /// It sends a body that was given beside its request.
    static var upload: TaskKind { TaskKind(.upload) }

    /// It is a connection, which is asked to do this.
    static func stream(_ calls: StreamCalls) -> TaskKind { TaskKind(.stream, calls) }

    /// It opens a web socket, which is asked to do this.
    static func webSocket(_ calls: WebSocketCalls) -> TaskKind { TaskKind(.webSocket, calls) }

    /// It opens a connection and sends nothing.
    static func warmUp(_ warmUp: WarmUp) -> TaskKind { TaskKind(.warmUp, warmUp) }

    /// Whether it sends a body that was given beside its request.
    var isUpload: Bool { name == .upload }

    /// What it is asked to do, of a stream task.
    var stream: StreamCalls? { name == .stream ? calls as? StreamCalls : nil }

    /// What is wanted of it, where it only opens a connection.
    var warmUp: WarmUp? { name == .warmUp ? calls as? WarmUp : nil }

    /// What it is asked to do, of a web socket task.
    var webSocket: WebSocketCalls? { name == .webSocket ? calls as? WebSocketCalls : nil }
}
