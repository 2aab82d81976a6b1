// What tests keep values in that several threads read and write, and wait for events with.

import URLLoadingTestSupport

/// The tests' own, without an import in each of their files.
typealias Signal = URLLoadingTestSupport.Signal

/// A value that several threads read and write.
final class Box<Value: Sendable>: Sendable {
    private let storage: Guarded<Value>

    init(_ value: Value) { storage = Guarded(value) }

    var value: Value {
        get { storage.withLock { $0 } }
        set { storage.withLock { $0 = newValue } }
    }

    func change(_ body: (inout Value) -> Void) {
        storage.withLock { value in body(&value) }
    }
}
