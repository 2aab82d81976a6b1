// Which classes a session asks about its loads, and those that are registered for the process.
//
// Must not know: tasks, what a class says.

import Dispatch
import Foundation
import Synchronization

/// A session's part in custom protocols; a session without any has none of these.
final class SessionProtocols: Sendable {
    /// Where classes are asked whether they want a hop. Instances, which may block, work elsewhere: every load is asked
    /// about.
    let questions = DispatchQueue(label: "URLLoading.protocols.questions")
    /// Where instances are made and work.
    let queue = DispatchQueue(label: "URLLoading.protocols")
    /// Answers all loads, and no class is asked.
    let mock: URLSession.Mock?
    private let configured: [URLProtocol.Type]
    /// Whether classes count that are registered later (B14.31).
    private let followsRegistry: Bool

    init?(_ values: ConfigurationValues, isShared: Bool) {
        // The built-in ones carry what no other class takes, wherever they stand (B14.32).
        configured = isShared ? [] : (values.protocolClasses ?? []).filter { !($0 is BuiltInProtocol.Type) }
        followsRegistry = isShared
        mock = values.mock
        if configured.isEmpty, mock == nil, !isShared { return nil }
    }

    /// Whether there is any class to be asked.
    var mayCarry: Bool {
        !configured.isEmpty || mock != nil || followsRegistry && ProtocolRegistry.shared.hasClasses
    }

    /// The classes in the order in which they are asked.
    private var classes: [URLProtocol.Type] { followsRegistry ? ProtocolRegistry.shared.classes : configured }

    /// The class that carries the hop that the task is about to load; nil where none wants to (B14.30).
    func choice(for task: URLSessionTask) -> ProtocolChoice? {
        if let mock { return .mock(mock) }
        return classes.first { $0.canInit(with: task) }.map { .type($0) }
    }
}

/// What carries a hop in place of the built-in carriers.
enum ProtocolChoice: Sendable {
    /// An instance of this class.
    case type(URLProtocol.Type)
    /// The answers of a test.
    case mock(URLSession.Mock)
}

/// The classes that are registered with `URLProtocol`.
final class ProtocolRegistry: Sendable {
    static let shared = ProtocolRegistry()

    private let list = Mutex<[URLProtocol.Type]>([])
    private let flag = Atomic<Bool>(false)

    /// Whether there are any; costs no lock.
    var hasClasses: Bool { flag.load(ordering: .relaxed) }

    /// The newest first (B14.30).
    var classes: [URLProtocol.Type] { list.withLock { $0 } }

    func add(_ type: URLProtocol.Type) {
        list.withLock { list in
            list.removeAll { $0 == type }
            list.insert(type, at: 0)
            flag.store(true, ordering: .relaxed)
        }
    }

    func remove(_ type: URLProtocol.Type) {
        list.withLock { list in
            list.removeAll { $0 == type }
            flag.store(!list.isEmpty, ordering: .relaxed)
        }
    }
}

extension ConfigurationValues {
    /// Default values, with the classes that are registered now before the built-in ones (B14.31).
    static var registered: ConfigurationValues {
        var values = ConfigurationValues()
        let registry = ProtocolRegistry.shared
        if registry.hasClasses { values.protocolClasses = registry.classes + BuiltInProtocol.all }
        return values
    }
}

/// Stands for what is built in, in the list of a configuration's classes. Sessions make no instances.
class BuiltInProtocol: URLProtocol {
    /// The schemes that the class stands for.
    class var schemes: [String] { [] }

    /// All of them (B14.32).
    static let all: [URLProtocol.Type] = [
        HTTPSchemes.self, FileScheme.self, DataScheme.self, AboutScheme.self,
    ]

    override class func canInit(with request: URLRequest) -> Bool {
        guard let scheme = request.url?.scheme?.lowercased() else { return false }
        return schemes.contains(scheme)
    }

    override func startLoading() {
        client?.urlProtocol(
            self,
            didFailWithError: LoadFailure.unsupportedURL(
                request.url, "The built-in protocols are at work in sessions only."))
    }
}

/// Stands for http and https.
final class HTTPSchemes: BuiltInProtocol {
    override class var schemes: [String] { ["http", "https"] }
}

/// Stands for `file:`.
final class FileScheme: BuiltInProtocol {
    override class var schemes: [String] { ["file"] }
}

/// Stands for `data:`.
final class DataScheme: BuiltInProtocol {
    override class var schemes: [String] { ["data"] }
}

/// Stands for `about:`.
final class AboutScheme: BuiltInProtocol {
    override class var schemes: [String] { ["about"] }
}
