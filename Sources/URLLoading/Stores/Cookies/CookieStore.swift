// The cookies of one storage, behind one lock, and their way to the disk and back.
//
// A storage with a file reads it when its cookies are first wanted; a task, which may be on a loop, has that done
// elsewhere (`isReady`). Writing merges: what this process has changed since
// it wrote last goes into what the file holds by then, so of two processes the last to say something about a cookie
// wins, and what others have changed is taken over. Cookies that end with the program are never written (B8.70).
//
// Must not know: sessions, the classes of the API beyond the policy's name, which code has to be told of changes.

import Foundation
import Synchronization
import URLLoadingPolicy
import URLLoadingSystem

/// The cookies of one storage.
package final class CookieStore: Sendable {
    private let state: Mutex<State>
    /// Held while the file is changed: for this process's own writing is waited as long as it takes.
    /// Whether the last one has waited for another process in vain: the next does not wait long.
    private let writing = Mutex(false)
    private let file: SharedFile?
    /// Longer files are neither read nor written.
    private let mostBytes: Int
    private let clock: @Sendable () -> Double
    private let suffixes: @Sendable () -> PublicSuffixes
    private let holdsAny: Atomic<Bool>
    /// Whether what the file holds is known, or there is none. Set under the lock.
    private let isLoaded: Atomic<Bool>

    private struct State: Sendable {
        var jar: CookieJar
        var policy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain
        /// Whether everything was removed, others' cookies in the file as well.
        var isCleared = false
        /// Whether the file could not be read when it was wanted.
        var isUnreadable = false
        /// How many writings have taken what has changed and are not over.
        var writings = 0
    }

    /// A store that is kept in a file, or in memory; the clock counts seconds since 2001.
    package init(
        file: SharedFile? = nil, limits: CookieLimits = .standard, mostBytes: Int = CookieFile.mostBytes,
        clock: @escaping @Sendable () -> Double = { Date.timeIntervalSinceReferenceDate },
        suffixes: @escaping @Sendable () -> PublicSuffixes = { SystemSuffixes.current }
    ) {
        self.file = file
        self.mostBytes = mostBytes
        self.clock = clock
        self.suffixes = suffixes
        state = Mutex(State(jar: CookieJar(limits: limits, recordsTouched: file != nil)))
        holdsAny = Atomic(file != nil)
        isLoaded = Atomic(file == nil)
    }

    /// Whether there may be cookies: asked by every request, and so without a lock.
    package var mayHoldCookies: Bool { holdsAny.load(ordering: .relaxed) }

    /// Whether cookies can be asked for without waiting for the disk.
    var isReady: Bool { isLoaded.load(ordering: .acquiring) }

    /// Reads the file, if it was not read yet; waits for the disk.
    func prepare() {
        let now = clock()
        state.withLock { state in
            state.isUnreadable = false
            load(&state, now: now)
            holdsAny.store(!state.jar.isEmpty || state.isUnreadable, ordering: .relaxed)
        }
    }

    /// Whose cookies are taken.
    package var policy: HTTPCookie.AcceptPolicy {
        get { state.withLock { $0.policy } }
        set { state.withLock { $0.policy = newValue } }
    }

    /// Sets the policy; whether it is another one than before.
    func changePolicy(_ policy: HTTPCookie.AcceptPolicy) -> Bool {
        state.withLock { state in
            defer { state.policy = policy }
            return state.policy != policy
        }
    }

    // MARK: Asking

    /// What has not ended.
    package var all: [Cookie] { withState { $0.jar.all($1) } }

    /// The cookies that go with a request, in the order in which they are sent.
    package func cookies(for context: CookieContext) -> [Cookie] {
        withState { $0.jar.cookies(for: context, now: $1, suffixes: suffixes) }
    }

    /// The value of a request's Cookie field.
    package func field(for context: CookieContext) -> String? {
        withState { $0.jar.field(for: context, now: $1, suffixes: suffixes) }
    }

    /// Whether a cookie goes with requests like this one, as far as SameSite is concerned.
    func isSent(_ cookie: Cookie, with context: CookieContext) -> Bool {
        CookieRules.isSent(cookie.sameSite, with: context, suffixes: suffixes)
    }

    // MARK: Changing; each says whether others would notice

    /// Keeps a cookie, from wherever it comes, unless the policy takes nothing (B8.63).
    package func set(_ cookie: Cookie) -> Bool {
        withState { state, now in
            guard state.policy != .never else { return false }
            return state.jar.store(cookie, now: now)
        }
    }

    /// Takes from an answer's cookies those that may be taken, under another policy than the
    /// storage's where one is given.
    package func receive(
        _ cookies: [Cookie], from context: CookieContext, policy: HTTPCookie.AcceptPolicy? = nil,
        refused: (CookieRefusal) -> Void = { _ in }
    ) -> Bool {
        let (isChanged, refusals) = withState { state, now -> (Bool, [CookieRefusal]) in
            if let refusal = CookieRules.refusal(CookiePolicy(policy ?? state.policy), of: context) {
                return (false, cookies.map { _ in refusal })
            }
            var (isChanged, refusals) = (false, [CookieRefusal]())
            for cookie in cookies {
                let refusal = state.jar.receive(
                    cookie, from: context, now: now, suffixes: suffixes, isChanged: &isChanged)
                if let refusal { refusals.append(refusal) }
            }
            return (isChanged, refusals)
        }
        refusals.forEach(refused)
        return isChanged
    }

    /// Takes from an answer's Set-Cookie fields.
    package func receive(
        fields: [some Collection<UInt8>], from context: CookieContext, policy: HTTPCookie.AcceptPolicy? = nil,
        refused: (CookieRefusal) -> Void = { _ in }
    ) -> Bool {
        receive(read(fields, from: context.place), from: context, policy: policy, refused: refused)
    }

    /// The cookies that fields of an answer make, whether or not they may be taken.
    func read(_ fields: [some Collection<UInt8>], from place: CookiePlace) -> [Cookie] {
        let now = clock()
        return fields.compactMap { SetCookie($0) }.map { Cookie($0, from: place, now: now) }
    }

    /// Removes a cookie.
    package func remove(_ identity: Cookie.Identity) -> Bool {
        withState { state, _ in state.jar.remove(identity) }
    }

    /// Removes what was first kept at a moment or later (B8.64).
    package func remove(since moment: Double) -> Bool {
        withState { state, _ in state.jar.remove(since: moment) }
    }

    /// Removes everything, from the file too what this process has never seen.
    package func removeAll() -> Bool {
        withState { state, _ in
            state.isCleared = file != nil
            return state.jar.remove(since: -.infinity)
        }
    }

    private func withState<R: Sendable>(_ body: (inout State, Double) -> R) -> R {
        let now = clock()
        return state.withLock { state in
            load(&state, now: now)
            defer { holdsAny.store(!state.jar.isEmpty || state.isUnreadable, ordering: .relaxed) }
            return body(&state, now)
        }
    }

    // MARK: The disk

    /// Whether something has changed that the file does not know of, or hears of just now: another writing waits for
    /// that one.
    package var needsWriting: Bool {
        file != nil && state.withLock { $0.isCleared || !$0.jar.touched.isEmpty || $0.writings > 0 }
    }

    /// Brings file and memory in line, if anything has changed here; whether others would notice that in memory.
    ///
    /// What cannot be written is written next time. The patience is for other processes.
    package func write(patience: Duration = .seconds(5)) -> Bool {
        guard let file, needsWriting else { return false }
        // Who has waited may find that nothing is left to be done.
        return writing.withLock { hasWaited in
            let patience = hasWaited ? min(patience, .milliseconds(200)) : patience
            return needsWriting && write(to: file, patience, hasWaited: &hasWaited)
        }
    }

    private func write(to file: SharedFile, _ patience: Duration, hasWaited: inout Bool) -> Bool {
        var isChanged = false
        var taken: (touched: Set<Cookie.Identity>, isCleared: Bool)?
        var leftOut: Set<Cookie.Identity> = []
        // What is to go has not to be read.
        let wantsContent = state.withLock { !$0.isCleared }
        let failure = file.change(
            atMost: mostBytes, patience: patience, wantsContent: wantsContent
        ) { content in
            // Order: all of it under the file's lock, so that no older state comes after a newer one.
            let known = content.bytes.flatMap(CookieFile.decode)
            let (touched, own, clears) = takeChanges(all: content != .missing && known == nil)
            taken = (touched, clears)
            let now = clock()
            var jar = CookieJar()
            for cookie in clears ? [] : known ?? [] where !touched.contains(cookie.identity) {
                jar.store(cookie, now: now)
            }
            for cookie in own { jar.store(cookie, now: now) }
            let shared = jar.all(now)
            isChanged = adopt(shared, now: now)
            // What the file holds has room: what is too much has come from here, and is to be written still.
            let text: [UInt8]
            (text, leftOut) = CookieFile.encode(shared, atMost: mostBytes, new: own)
            if leftOut.count == shared.count { return content == .missing ? .keep : .remove }
            return text == content.bytes ? .keep : .replace(text)
        }
        // Without a failure, or behind the lock, it was to be had.
        hasWaited = failure != nil && taken == nil
        if let taken {
            state.withLock { state in
                state.writings -= 1
                state.jar.untake(leftOut)
                guard failure != nil else { return }
                state.jar.untake(taken.touched)
                state.isCleared = state.isCleared || taken.isCleared
            }
        }
        return isChanged
    }

    /// What has changed here, and of that what there is to write; `all` that is here where what the file held is lost.
    private func takeChanges(all: Bool) -> (Set<Cookie.Identity>, [Cookie], isCleared: Bool) {
        state.withLock { state in
            state.writings += 1
            let touched = state.jar.takeTouched()
            defer { state.isCleared = false }
            let mine = all ? state.jar.all(-.infinity) : touched.compactMap { state.jar.cookie($0) }
            let cookies = mine.filter { $0.expires != nil }
            return (touched, cookies.sorted { $0.created < $1.created }, state.isCleared)
        }
    }

    private func adopt(_ shared: [Cookie], now: Double) -> Bool {
        state.withLock { state in
            defer {
                state.isUnreadable = false
                holdsAny.store(!state.jar.isEmpty, ordering: .relaxed)
                isLoaded.store(true, ordering: .releasing)
            }
            return state.jar.adopt(shared, now: now)
        }
    }

    /// A file that is torn, or not one of ours, counts as none. One that cannot be read now is tried again by `prepare`
    /// and by the next writing, and by nothing else: what asks may be on a loop.
    private func load(_ state: inout State, now: Double) {
        guard let file, !isLoaded.load(ordering: .relaxed), !state.isUnreadable else { return }
        guard case .success(let content) = file.content(atMost: mostBytes) else {
            state.isUnreadable = true
            return
        }
        // Order: last, since a thread that finds it set does not expect to wait here.
        defer { isLoaded.store(true, ordering: .releasing) }
        guard !state.isCleared, let cookies = content.bytes.flatMap(CookieFile.decode) else { return }
        // What has changed here since the first try counts more than what the file holds.
        _ = state.jar.adopt(cookies, now: now)
    }
}
