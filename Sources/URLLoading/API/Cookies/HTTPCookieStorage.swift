// The face of a store of cookies: Apple's methods, notifications, and the moments at which a file is written.
//
// Must not know: the rules of cookies, the form of files.

import Foundation
import Synchronization
import URLLoadingPolicy
import URLLoadingSystem

extension Notification.Name {
    /// The cookies of a storage, which is the notification's object, have changed; posted on the main queue (B8.71).
    public static let NSHTTPCookieManagerCookiesChanged = Notification.Name(
        "NSHTTPCookieManagerCookiesChangedNotification")

    /// The accept policy of a storage, which is the notification's object, has changed; posted on the main queue.
    public static let NSHTTPCookieManagerAcceptPolicyChanged = Notification.Name(
        "NSHTTPCookieManagerAcceptPolicyChangedNotification")
}

/// Keeps cookies, takes them from answers and finds those that go with a request.
///
/// One made with `init()` keeps them in memory. The shared one and those of groups keep them in a file for their owner
/// only, in `$XDG_DATA_HOME` or `~/.local/share`, without those that end with the program. The file is written half a
/// second after a change, by `URLSession.flush`, and when the program ends in an orderly way.
///
/// A session asks a subclass through `getCookiesFor(_:completionHandler:)` and gives it cookies through
/// `storeCookies(_:for:)`; these call `cookies(for:)` and `setCookies(_:for:mainDocumentURL:)` unless overridden.
open class HTTPCookieStorage: NSObject, @unchecked Sendable {
    // Safe to share: set before another thread has the object; everything in it is behind its lock.
    @exclusivity(unchecked) package private(set) var store: CookieStore
    /// Whether the main thread has been asked already to tell of changes, and a time set for writing.
    private let isAnnouncing = Atomic<Bool>(false)
    private let isWriting = Atomic<Bool>(false)

    private static let common = HTTPCookieStorage(CookieStore(file: CookiePlaces.ofProcess))
    private static let groups = Mutex<[String: HTTPCookieStorage]>([:])

    /// Makes an empty storage in memory.
    public override init() {
        store = CookieStore()
        super.init()
    }

    // Convenience, so that every designated initialiser is public: otherwise subclasses in other modules would not
    // inherit `init()`.
    package convenience init(_ store: CookieStore) {
        self.init()
        self.store = store
    }

    /// The storage of the process, which outlives it (B8.60, B8.68).
    open class var shared: HTTPCookieStorage { common }

    /// The storage of a group of programs, each with a file of its own: the same for the same identifier (B8.61).
    @discardableResult
    open class func sharedCookieStorage(forGroupContainerIdentifier identifier: String) -> HTTPCookieStorage {
        groups.withLock { groups in
            if let known = groups[identifier] { return known }
            let new = HTTPCookieStorage(CookieStore(file: CookiePlaces.ofGroup(identifier)))
            groups[identifier] = new
            return new
        }
    }

    // MARK: Asking

    /// All cookies that have not ended, oldest first.
    open var cookies: [HTTPCookie]? { store.all.compactMap { HTTPCookie($0) } }

    /// The cookies that a request for a URL is sent with, in their order; an empty list where there are none (B8.65).
    @discardableResult
    open func cookies(for URL: URL) -> [HTTPCookie]? {
        guard store.mayHoldCookies, let place = CookiePlace(URL) else { return [] }
        return store.cookies(for: CookieContext(place)).compactMap { HTTPCookie($0) }
    }

    /// All cookies in an order of one's own (B8.66).
    @discardableResult
    open func sortedCookies(using sortOrder: [NSSortDescriptor]) -> [HTTPCookie] {
        (cookies ?? []).sorted { left, right in
            for descriptor in sortOrder {
                switch descriptor.compare(left, to: right) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return false
        }
    }

    /// Whose cookies are taken. A session goes by its configuration's policy instead (B8.42).
    open var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { store.policy }
        set {
            if store.changePolicy(newValue) { post(.NSHTTPCookieManagerAcceptPolicyChanged) }
        }
    }

    /// The class in Apple's own words, and how many cookies there are (B8.67).
    open override var description: String {
        "<\(isPlain ? "NSHTTPCookieStorage" : "\(type(of: self))") cookies count:\(store.all.count)>"
    }

    // MARK: Changing

    /// Keeps a cookie in the place of one with the same name, domain and path, from wherever it comes, unless the
    /// policy is `.never` (B8.62, B8.63).
    open func setCookie(_ cookie: HTTPCookie) {
        guard overriddenPolicy != .never else { return }
        if store.set(cookie.cookie) { noteChange() }
    }

    /// Keeps the cookies of an answer that the policy takes and that the URL's host may set (B8.63).
    open func setCookies(_ cookies: [HTTPCookie], for URL: URL?, mainDocumentURL: URL?) {
        guard let URL, let place = CookiePlace(URL) else { return }
        let context = CookieContext(
            place, mainDocument: mainDocumentURL, isTopLevel: URL == mainDocumentURL, method: "GET")
        if store.receive(cookies.map(\.cookie), from: context, policy: overriddenPolicy) { noteChange() }
    }

    /// Removes a cookie; one that is not kept is passed over (B8.64).
    open func deleteCookie(_ cookie: HTTPCookie) {
        if store.remove(cookie.cookie.identity) { noteChange() }
    }

    /// Removes the cookies that were first kept at a date or later (B8.64); since `Date.distantPast` all of them, those
    /// in the file that another process has put there included.
    open func removeCookies(since date: Date) {
        let isChanged =
            date <= .distantPast ? store.removeAll() : store.remove(since: date.timeIntervalSinceReferenceDate)
        noteChange(isChanged: isChanged)
    }

    // MARK: For a task

    /// Keeps the cookies of the answer to a task's current request, under the policy of its session (B8.73).
    open func storeCookies(_ cookies: [HTTPCookie], for task: URLSessionTask) {
        guard let context = CookieContext(task) else { return }
        let policy = task.core.session?.settings.cookies?.policy
        if isPlain {
            if store.receive(cookies.map(\.cookie), from: context, policy: policy) { noteChange() }
        } else if CookieRules.refusal(CookiePolicy(policy ?? cookieAcceptPolicy), of: context) == nil {
            let request = task.currentRequest
            setCookies(cookies, for: request?.url, mainDocumentURL: request?.mainDocumentURL, under: policy)
        }
    }

    /// Finds the cookies that a task's current request is sent with; the handler is called at once (B8.73).
    @preconcurrency
    open func getCookiesFor(
        _ task: URLSessionTask, completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void
    ) {
        guard let request = task.currentRequest, request.httpShouldHandleCookies, let url = request.url,
            let context = CookieContext(task)
        else { return completionHandler([]) }
        if isPlain {
            completionHandler(store.cookies(for: context).compactMap { HTTPCookie($0) })
        } else {
            completionHandler(cookies(for: url)?.filter { store.isSent($0.cookie, with: context) })
        }
    }

    /// The cookies that a task's current request is sent with.
    ///
    /// Sessions call the form with a handler, and an override of this one is not asked: override that one.
    @discardableResult
    open func cookies(for task: URLSessionTask) async -> [HTTPCookie]? {
        await withCheckedContinuation { continuation in
            getCookiesFor(task) { continuation.resume(returning: $0) }
        }
    }

    // MARK: Inside

    /// Whether no subclass can have a say.
    var isPlain: Bool { type(of: self) == HTTPCookieStorage.self }

    /// Gives a subclass the cookies of an answer, on behalf of a session with this policy, which wins over the one that
    /// was set (B8.42).
    func setCookies(
        _ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?, under policy: HTTPCookie.AcceptPolicy?
    ) {
        Self.$sessionPolicy.withValue(policy) { setCookies(cookies, for: url, mainDocumentURL: mainDocumentURL) }
    }

    /// The policy of the session on whose behalf the code that runs here stores cookies.
    @TaskLocal private static var sessionPolicy: HTTPCookie.AcceptPolicy?

    /// Whose cookies a subclass takes: as it says itself where that is not what was set, else as the session wants; nil
    /// where there is no subclass.
    private var overriddenPolicy: HTTPCookie.AcceptPolicy? {
        guard !isPlain else { return nil }
        let said = cookieAcceptPolicy
        return said == store.policy ? Self.sessionPolicy ?? said : said
    }

    /// Takes the cookies of an answer, on any thread.
    func receive(fields: [String], from context: CookieContext, policy: HTTPCookie.AcceptPolicy) {
        if store.receive(fields: fields.map(\.utf8), from: context, policy: policy) { noteChange() }
    }

    /// Takes from the cookies of an answer that were read before.
    func receive(_ cookies: [Cookie], from context: CookieContext, policy: HTTPCookie.AcceptPolicy) {
        if store.receive(cookies, from: context, policy: policy) { noteChange() }
    }

    /// Writes what has changed, if there is a file.
    func write(patience: Duration = .seconds(5)) {
        if store.write(patience: patience) { post(.NSHTTPCookieManagerCookiesChanged) }
    }

    /// Tells of a change, and sees to it that the file hears of it too.
    private func noteChange(isChanged: Bool = true) {
        if isChanged { announceChange() }
        guard store.needsWriting, !isWriting.exchange(true, ordering: .acquiringAndReleasing) else { return }
        CookieWriters.add(self)
        // Cookies change in bursts, and each writing writes them all.
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(500)) { [self] in
            BlockingLane.files.run { [self] in
                // Order: what changes from here on sets another time.
                isWriting.store(false, ordering: .releasing)
                write()
            }
        }
    }

    /// Called without a lock: observers may ask the storage. The main queue stands for the main thread, which a program
    /// with an asynchronous entry point does not keep on Linux.
    private func announceChange() {
        guard !Thread.isMainThread else { return post(.NSHTTPCookieManagerCookiesChanged) }
        // A notification that is still to be delivered tells of all changes up to its time.
        guard !isAnnouncing.exchange(true, ordering: .acquiringAndReleasing) else { return }
        DispatchQueue.main.async { [self] in
            isAnnouncing.store(false, ordering: .releasing)
            NotificationCenter.default.post(name: .NSHTTPCookieManagerCookiesChanged, object: self)
        }
    }

    private func post(_ name: Notification.Name) {
        let post: @Sendable () -> Void = { [self] in NotificationCenter.default.post(name: name, object: self) }
        if Thread.isMainThread { post() } else { DispatchQueue.main.async(execute: post) }
    }
}

/// The storages with changes that may not have been written when the program ends.
enum CookieWriters {
    private static let storages = Mutex<[HTTPCookieStorage]>([])
    private static let writesAtExit: Void = { _ = atexit { CookieWriters.writeAll() } }()

    /// Notes a storage, once.
    static func add(_ storage: HTTPCookieStorage) {
        _ = writesAtExit
        storages.withLock { storages in
            if !storages.contains(where: { $0 === storage }) { storages.append(storage) }
        }
    }

    /// A process that hangs with the lock must not keep this program from ending: a writing that is under way gives up
    /// after five seconds, and this one then hardly waits.
    private static func writeAll() {
        for storage in storages.withLock({ $0 }) { _ = storage.store.write(patience: .seconds(1)) }
    }
}

extension CookieContext {
    /// A task's current request; nil where that leads nowhere.
    init?(_ task: URLSessionTask) {
        guard let request = task.currentRequest, let place = request.url.flatMap({ CookiePlace($0) }) else {
            return nil
        }
        let main = request.mainDocumentURL
        self.init(
            place, mainDocument: main, isTopLevel: main != nil && task.originalRequest?.url == main,
            method: request.httpMethod ?? "GET")
    }
}
