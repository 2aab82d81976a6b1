// The cache as programs see it. A session asks its configuration's; a program may ask, fill and empty it by hand,
// and may put a class of its own in its place. Of this class itself sessions use the store behind it; of a
// subclass they call the methods with a task, and `storeCachedResponse` and `removeCachedResponse` with a request
// for what is about another.
//
// Must not know: whether what it holds may still be used (that is `CacheRules`), when a session asks it.

import Foundation
import Synchronization
import URLLoadingPolicy

/// Responses by request, in memory and on disk.
///
/// An entry is found by its URL without the fragment and by the request's values of the fields that the response's Vary
/// names (B7.16). There is one entry for each URL; the newest wins (B7.83). Answers to GET are stored; HEAD finds them
/// too.
///
/// The files on disk are for the user alone. Several processes may use one directory.
open class URLCache: NSObject, @unchecked Sendable {
    // Safe to share: the store guards itself, and which one it is stands behind this Mutex.
    private let place: Mutex<CacheStore>
    private static let common = Mutex<URLCache?>(nil)

    /// Where a response may be kept (B7.14).
    public enum StoragePolicy: UInt, Sendable {
        /// In memory and on disk.
        case allowed = 0
        /// In memory only.
        case allowedInMemoryOnly = 1
        /// Nowhere.
        case notAllowed = 2
    }

    /// Makes a cache in memory, of the capacity that the shared one has there.
    public override init() {
        place = Mutex(CacheStore(memoryCapacity: Self.sharedMemoryCapacity, diskCapacity: 0, directory: nil))
        super.init()
    }

    /// Makes a cache of two capacities in bytes, of which 0 stands for none (B7.3).
    ///
    /// A path that does not begin with a slash lies below the directory that is used without one:
    /// `$XDG_CACHE_HOME`, or `~/.cache`, `/NAME OF THE PROGRAM/URLCache` (B7.4).
    @available(*, deprecated, message: "Use init(memoryCapacity:diskCapacity:directory:)")
    public init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?) {
        place = Mutex(
            CacheStore(
                memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, directory: Self.directory(below: path)))
        super.init()
    }

    /// Makes a cache of two capacities in bytes, of which 0 stands for none (B7.3), in a directory or, without one, in
    /// `$XDG_CACHE_HOME`, or `~/.cache`, `/NAME OF THE PROGRAM/URLCache` (B7.4).
    public convenience init(memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil) {
        self.init()
        let path = directory.map { $0.path(percentEncoded: false) }
        let store = CacheStore(
            memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, directory: Self.directory(below: path))
        place.withLock { $0 = store }
    }

    /// The cache that configurations begin with: 4 MiB in memory and 20 MiB on disk, unless the program has set another
    /// (B7.1). A session keeps the one its configuration had when it was made (B7.2).
    open class var shared: URLCache {
        get {
            common.withLock { common in
                if let common { return common }
                let made = URLCache(
                    memoryCapacity: sharedMemoryCapacity, diskCapacity: sharedDiskCapacity, directory: nil)
                common = made
                return made
            }
        }
        set {
            // Order: the cache of before goes when the lock is free, since it may ask for the shared one in its deinit.
            common.letGo { exchange(&$0, with: newValue) }
        }
    }

    // MARK: By request

    /// What is stored for a request, however old it is (B7.11).
    @discardableResult
    open func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        store.response(for: request)
    }

    /// Stores a response for a GET request, in place of what is stored for it, where its policy allows it and it is not
    /// larger than the capacity (B7.9, B7.13, B7.14).
    open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        store.store(cachedResponse, for: request)
    }

    /// Removes what is stored for a request, if anything (B7.15).
    open func removeCachedResponse(for request: URLRequest) {
        store.remove(for: request)
    }

    /// Removes everything, in memory and on disk (B7.15).
    open func removeAllCachedResponses() {
        store.removeAll()
    }

    /// Removes what was stored at or after a date (B7.15).
    open func removeCachedResponses(since date: Date) {
        store.remove(since: date)
    }

    // MARK: Sizes

    /// How many bytes may be kept in memory; what is more goes at once, the longest unused first (B7.6, B7.7).
    open var memoryCapacity: Int {
        get { store.memoryCapacity }
        set { store.memoryCapacity = newValue }
    }

    /// How many bytes may be kept on disk; what is more goes at once, the longest unused first (B7.6, B7.7).
    open var diskCapacity: Int {
        get { store.diskCapacity }
        set { store.diskCapacity = newValue }
    }

    /// How many bytes are kept in memory (B7.5).
    open var currentMemoryUsage: Int { store.memoryUsage }

    /// How many bytes are kept on disk (B7.5).
    open var currentDiskUsage: Int { store.diskUsage }

    // MARK: By task

    /// Stores a response for the request that a task is sending (B7.21).
    open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        if let request = dataTask.currentRequest { storeCachedResponse(cachedResponse, for: request) }
    }

    /// Asks for what is stored for the request that a task is sending; the handler is called at once (B7.21).
    @preconcurrency
    open func getCachedResponse(
        for dataTask: URLSessionDataTask, completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        completionHandler(dataTask.currentRequest.flatMap { cachedResponse(for: $0) })
    }

    /// What is stored for the request that a task is sending (B7.21).
    ///
    /// Sessions call the form with a handler, and an override of this one is not asked: override that one.
    @discardableResult
    open func cachedResponse(for dataTask: URLSessionDataTask) async -> CachedURLResponse? {
        await withCheckedContinuation { continuation in
            getCachedResponse(for: dataTask) { continuation.resume(returning: $0) }
        }
    }

    /// Removes what is stored for the request that a task is sending (B7.21).
    open func removeCachedResponse(for dataTask: URLSessionDataTask) {
        if let request = dataTask.currentRequest { removeCachedResponse(for: request) }
    }

    // MARK: Inside

    var store: CacheStore { place.withLock { $0 } }

    /// Whether it is this class itself, of which nothing is overridden.
    var isPlain: Bool { type(of: self) == URLCache.self }

    /// Nil where the user has no directory for such things: then there is no disk.
    private static func directory(below path: String?) -> String? {
        if let path, path.hasPrefix("/") { return path }
        guard let base = UserDirectories.caches else { return nil }
        let own = base + "/" + UserDirectories.folderOfProcess + "/URLCache"
        guard let path, !path.isEmpty else { return own }
        return own + "/" + path.split(separator: "/").map { UserDirectories.folder(String($0)) }.joined(separator: "/")
    }

    private static let sharedMemoryCapacity = 4 << 20
    private static let sharedDiskCapacity = 20 << 20
}
