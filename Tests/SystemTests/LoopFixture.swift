// What the tests of this folder share: a loop of their own that is stopped at the end, and a way to wait for what
// happens on it.

import URLLoadingSystem
import URLLoadingTestSupport

/// The way out of a loop, once.
struct Finish<Value: Sendable>: Sendable {
    fileprivate let continuation: Handover<Value, any Error>

    func callAsFunction(_ value: Value) {
        continuation.resume(returning: value)
    }

    func fail(_ error: any Error) {
        continuation.resume(throwing: error)
    }
}

/// Runs `body` on the loop and waits until it, or something it started, calls the `Finish`.
///
/// What `body` returns is kept on the loop until then.
func onLoop<Value: Sendable>(
    _ loop: Loop,
    _ body: @escaping @Sendable (Reactor, Finish<Value>) throws -> Void
) async throws -> Value {
    try await withThrowingHandover { continuation in
        loop.run { reactor in
            do {
                try body(reactor, Finish(continuation: continuation))
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}

/// Gives `body` a loop of its own, and stops it.
func withLoop<Value>(_ body: (Loop) async throws -> Value) async throws -> Value {
    let group = LoopGroup(count: 1, name: "test-loop")
    defer { group.stop() }
    return try await body(group.next())
}

/// Something missing that a test needs.
struct Missing: Error {
    let what: String

    init(_ what: String) {
        self.what = what
    }
}

func required<Value>(_ value: Value?, _ what: String) throws -> Value {
    guard let value else { throw Missing(what) }
    return value
}

func loopback(port: Int = 0) throws -> SocketAddress {
    try required(SocketAddress(literal: "127.0.0.1", port: port), "127.0.0.1")
}

/// An observer made of closures.
final class Observer: ByteStreamObserver {
    var onReadable: (any ByteStream) -> Void = { _ in }
    var onWritable: (any ByteStream) -> Void = { _ in }

    func streamBecameReadable(_ stream: any ByteStream) { onReadable(stream) }
    func streamBecameWritable(_ stream: any ByteStream) { onWritable(stream) }
}

extension Reactor {
    /// Keeps objects alive for the life of the loop.
    func keep(_ objects: AnyObject...) {
        for object in objects {
            hold(object)
        }
    }

    /// Connects to `address` and hands over both ends.
    func connect(
        _ address: SocketAddress, options: DialOptions = DialOptions(), configure: (Listener) -> Void = { _ in },
        _ body: @escaping (SocketStream, SocketStream) -> Void
    ) throws {
        let listener = try Listener(reactor: self, address: address)
        configure(listener)
        let dialer = SocketDialer(reactor: self)
        keep(listener, dialer)
        var client: SocketStream?
        var server: SocketStream?
        func check() {
            guard let client, let server else { return }
            keep(client, server)
            body(client, server)
        }
        listener.onAccept = { stream in
            server = stream
            check()
        }
        _ = dialer.dial(listener.address, options: options) { result in
            client = (try? result.get()) as? SocketStream
            check()
        }
    }
}

extension ByteStream {
    /// Everything that can be read now, and what ended it.
    func drain() -> (bytes: [UInt8], last: IOResult) {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 32 << 10)
        while true {
            let result = buffer.withUnsafeMutableBytes { read(into: $0) }
            guard case .bytes(let count) = result else { return (all, result) }
            all += buffer.prefix(count)
            if !hasPendingInput {
                return (all, .wouldBlock)
            }
        }
    }

    func write(_ text: String) -> IOResult {
        Array(text.utf8).withUnsafeBytes { write($0) }
    }
}

/// A counter any thread may use.
final class Counter: Sendable {
    private let number = Guarded(0)

    var value: Int { number.value }

    @discardableResult
    func increment() -> Int {
        number.add(1)
    }
}

/// A list any thread may append to.
final class Log<Element: Sendable>: Sendable {
    private let elements = Guarded<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }

    func append(_ element: Element) {
        elements.withLock { $0.append(element) }
    }
}
