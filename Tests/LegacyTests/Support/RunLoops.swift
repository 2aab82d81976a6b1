// Threads whose run loop runs as that of a small program does, and servers and values for the tests of this target.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

/// Runs `body` on a new thread and then its run loop, until nothing is scheduled there any more.
func onRunLoop<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withHandover { continuation in
        Thread {
            let value = body()
            runLoop()
            continuation.resume(returning: value)
        }.start()
    }
}

/// Runs this thread's run loop until its default mode is empty.
func runLoop() {
    while RunLoop.current.run(mode: .default, before: .distantFuture) {}
}

/// Keeps the default mode of this thread's run loop from being empty. (A timer would do, but
/// Foundation never frees one.)
final class Keeper {
    private let source = RunLoop._Source()

    init() { RunLoop.current._add(source, forMode: .default) }

    func leave() { RunLoop.current._remove(source, for: .default) }
}

extension LoopbackServer.Options {
    /// With an address of the server's own: what older classes load with is shared, and remembers passwords and pages
    /// by address, of which a port alone may come again.
    static func alone() -> LoopbackServer.Options {
        let number = addresses.add(1)
        return LoopbackServer.Options(host: "127.\(number >> 16 & 0x7F | 0x80).\(number >> 8 & 0xFF).\(number & 0xFF)")
    }
}

/// How many have been given out.
private let addresses = Guarded<UInt32>(0)

extension LoopbackServer {
    /// A request for a path of this server, which no cache answers.
    func request(_ path: String = "/", host: String? = nil) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: url(path, host: host))))
        request.cachePolicy = .reloadIgnoringLocalCacheData
        return request
    }
}

/// Weak references, to be looked at later.
final class Watch: @unchecked Sendable {
    // Written before it is shared, and weak references may be read from any thread.
    private(set) weak var load: AnyObject?
    private(set) weak var delegate: AnyObject?

    func note(_ load: AnyObject?, _ delegate: AnyObject?) {
        self.load = load
        self.delegate = delegate
    }

    var isEmpty: Bool { load == nil && delegate == nil }
}

/// The code of an error, for a transcript.
func code(_ error: any Error) -> Int { (error as? URLError)?.code.rawValue ?? (error as NSError).code }

/// A file in a folder of its own, which goes with the object.
final class Place: Sendable {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("legacy-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    func text(_ name: String) -> String? { try? String(contentsOfFile: path(name), encoding: .utf8) }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }
}
