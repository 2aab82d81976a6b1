// The certificates a path may end in, found by name. Own anchors are held in memory; the machine's store is looked up
// one certificate at a time and what was found is kept. Does not judge.
//
// Looking up means reading files the first time. Code that must not wait does not do that: it is
// told that files are needed.

import Synchronization

/// A set of trust anchors.
package final class TrustRoots: Sendable {
    /// The machine's store, found on first use and shared by the whole process.
    package static let system = TrustRoots { SystemStore.find() }

    /// Finds the store; nil for own anchors.
    private let find: (@Sendable () -> SystemStore)?
    private let present = Mutex<SystemStore?>(nil)
    private let known: Mutex<Known>

    /// What was found so far. An empty answer is remembered, too, until `lookAgain`; those of quick look-ups stay, and
    /// are replaced by what a thorough one finds.
    private struct Known {
        var answers: [UInt: [Certificate]] = [:]
        var thoroughAnswers: [UInt: [Certificate]] = [:]
    }

    /// Exactly these anchors.
    package init(anchors: [Certificate]) {
        find = nil
        known = Mutex(Known(answers: Dictionary(grouping: anchors, by: \.subjectHash)))
    }

    /// The certificates of a store on disk.
    package convenience init(store: SystemStore) {
        self.init { store }
    }

    /// The certificates of a store that is looked for when it is first needed.
    package init(find: @escaping @Sendable () -> SystemStore) {
        self.find = find
        known = Mutex(Known())
    }

    /// Whether an administrator keeps these anchors, and not the program.
    var isStore: Bool { find != nil }

    /// The store, looked for the first time.
    private var store: SystemStore? {
        guard let find else { return nil }
        return present.withLock { present in
            let store = present ?? find()
            present = store
            return store
        }
    }

    /// The places that were looked at for the machine's store; empty for own anchors.
    package var searched: [String] { store?.searched ?? [] }

    /// Whether this is a machine's store and nothing was found in any of its places.
    package var isMissing: Bool { store?.isMissing ?? false }

    /// Has thorough look-ups ask the disk for what was not found before: it may have come since, or there was no
    /// descriptor left to read it.
    func lookAgain() {
        guard let find else { return }
        let later = find()
        let isOutdated = present.withLock { $0 }?.isOutdated(beside: later) ?? true
        if isOutdated { present.withLock { $0 = later } }
        known.withLock { known in
            known.thoroughAnswers = isOutdated ? [:] : known.thoroughAnswers.filter { !$0.value.isEmpty }
        }
    }

    /// Every anchor of this subject name; other names can share its hash.
    ///
    /// What only a thorough look-up finds is said at `SystemStore.certificates`. Throws where files would have to be
    /// read, unless that `mayWait`.
    func anchors(
        _ subject: SubjectName, isThorough: Bool, mayWait: Bool
    ) throws(FilesNeeded) -> [Certificate] {
        let hash = subject.hash
        let kept = known.withLock { isThorough && isStore ? $0.thoroughAnswers[hash] : $0.answers[hash] }
        if let kept { return kept }
        guard isStore else { return [] }
        guard mayWait, let store else { throw FilesNeeded() }
        // Files are read outside the lock: two threads may both read one, and the first to finish is kept.
        let found = store.certificates(subject, isThorough: isThorough)
        return known.withLock { known in
            guard isThorough else { return Self.keep(found, for: hash, in: &known.answers) }
            if !found.isEmpty { known.answers[hash] = found }
            return Self.keep(found, for: hash, in: &known.thoroughAnswers)
        }
    }

    private static func keep(
        _ found: [Certificate], for hash: UInt, in answers: inout [UInt: [Certificate]]
    ) -> [Certificate] {
        if let earlier = answers[hash], !earlier.isEmpty { return earlier }
        // Names come from peers, so what is remembered about absent ones is bounded.
        if !found.isEmpty || answers.count < rememberedNames { answers[hash] = found }
        return found
    }

    // By feel: ten times the roots of a usual store.
    private static let rememberedNames = 2_000
}
