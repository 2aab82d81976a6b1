// The upload resources that tasks of this process are at work on: never two at one (B11.38).
//
// Must not know: tasks.

import Synchronization

/// The right to one upload resource; it ends with the object at the latest.
final class UploadClaim: Sendable {
    let resource: String
    private let isHeld = Atomic<Bool>(true)

    private init(_ resource: String) {
        self.resource = resource
    }

    /// The claim, unless another upload of the program has it.
    static func take(_ resource: String) -> UploadClaim? {
        taken.withLock { $0.insert(resource).inserted } ? UploadClaim(resource) : nil
    }

    /// Lets others have the resource.
    func release() {
        guard isHeld.exchange(false, ordering: .acquiringAndReleasing) else { return }
        Self.taken.withLock { _ = $0.remove(resource) }
    }

    deinit {
        release()
    }

    private static let taken = Mutex<Set<String>>([])
}
