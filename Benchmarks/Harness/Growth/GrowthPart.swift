// Parts of the library that are counted by themselves, since whole requests would hide what they cost: a pool without
// sockets, cookies and caches without loads.

/// A part, by the name of its series.
enum GrowthPart: String {
    /// Connections to one host, opened in the order in which they are asked for.
    case poolDials = "pool-dials"
    /// Connections to one host, ready in another order than they are asked for.
    case poolShuffled = "pool-dials-shuffled"
    /// A request to a new origin, in a pool that keeps an idle connection to each of many and may keep no more.
    case poolOrigins = "pool-origins"
    /// Cookies of an answer, ten for a host.
    case cookiesStored = "cookies-stored"
    /// The Cookie field of a request.
    case cookiesSent = "cookies-sent"
    /// Cookies of an answer, when a storage has had more than it may hold.
    case cookiesPushedOut = "cookies-pushed-out"
    /// The Cookie field of a request to a domain that has all cookies.
    case cookiesOfDomain = "cookies-of-domain"
    /// Answers put into an empty cache in memory.
    case cacheStored = "cache-stored"
    /// Answers found in memory.
    case cacheFound = "cache-found"
    /// Answers put into a cache in memory that can hold no more.
    case cacheFull = "cache-full"
    /// Answers put on disk.
    case diskStored = "disk-stored"
    /// Answers found on disk.
    case diskFound = "disk-found"
    /// A cache on disk that is opened and asked what it has.
    case diskOpened = "disk-opened"
    /// Answers put on disk for the others to find; not counted.
    case diskFilled = "disk-filled"

    /// How often it is done in the shorter of the two runs that are compared, at a size.
    func units(size: Int) -> Int {
        switch self {
        // As many as there shall be, once or several times.
        case .poolDials, .poolShuffled, .cookiesStored, .cacheStored: max(1_000, size)
        case .cacheFound: max(2_000, size / 5)
        case .poolOrigins, .cookiesSent, .cookiesPushedOut, .cookiesOfDomain, .cacheFull: 2_000
        case .diskStored, .diskFound: 500
        case .diskOpened: max(1, 10_000 / size)
        case .diskFilled: size
        }
    }

    /// Whether it needs a directory in which so many answers are stored.
    var needsDisk: Bool {
        switch self {
        case .diskStored, .diskFound, .diskOpened: true
        case .poolDials, .poolShuffled, .poolOrigins, .cookiesStored, .cookiesSent, .cookiesPushedOut, .cookiesOfDomain,
            .cacheStored, .cacheFound, .cacheFull, .diskFilled:
            false
        }
    }

    /// Whether it leaves that directory with more in it.
    var addsToDisk: Bool { self == .diskStored }

    /// Does it so many times, among so many.
    func run(size: Int, times: Int, directory: String) throws {
        switch self {
        case .poolDials: try PoolGrowth(size: size, isShuffled: false).open(times)
        case .poolShuffled: try PoolGrowth(size: size, isShuffled: true).open(times)
        case .poolOrigins: try PoolGrowth(size: size, isShuffled: false).visitOrigins(times)
        case .cookiesStored: try CookieGrowth(size: size).store(times)
        case .cookiesSent: try CookieGrowth(size: size).send(times)
        case .cookiesPushedOut: try CookieGrowth(size: size).pushOut(times)
        case .cookiesOfDomain: try CookieGrowth(size: size).sendOfDomain(times)
        case .cacheStored: try CacheGrowth(size: size).store(times)
        case .cacheFound: try CacheGrowth(size: size).find(times)
        case .cacheFull: try CacheGrowth(size: size).storeInFull(times)
        case .diskStored: try DiskGrowth(size: size, directory: directory).store(times)
        case .diskFound: try DiskGrowth(size: size, directory: directory).find(times)
        case .diskOpened: try DiskGrowth(size: size, directory: directory).open(times)
        case .diskFilled: try DiskGrowth(size: size, directory: directory).fill()
        }
    }
}
