// The class that programs make subclasses of, to load what they like in their own way (behaviour 14.5).
//
// Must not know: how its reports reach the task; that is its client's.

import Foundation

/// Loads a request in a way of the program's own.
///
/// A subclass says in `canInit` which requests it takes, and in `startLoading` begins to load one, telling its `client`
/// what comes, at once or later, from any thread. `canonicalRequest`, the initialiser, `startLoading` and `stopLoading`
/// are called one after the other on a serial queue that each session has for this, and `canInit`, meanwhile, on
/// another: it should be quick, since every load of the session is asked about. No run loop runs there: a timer on
/// `RunLoop.current` would never fire.
open class URLProtocol: NSObject {
    private let givenRequest: URLRequest
    private let givenResponse: CachedURLResponse?
    private let givenClient: (any URLProtocolClient)?
    private var givenTask: URLSessionTask?

    /// Makes an instance for one load.
    public required init(
        request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?
    ) {
        givenRequest = request
        givenResponse = cachedResponse
        givenClient = client
        super.init()
    }

    /// Makes an instance that loads what the task is about to load; what sessions call.
    public required convenience init(
        task: URLSessionTask, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?
    ) {
        let request = task.currentRequest ?? task.originalRequest ?? URLRequest(RequestValues())
        self.init(request: request, cachedResponse: cachedResponse, client: client)
        givenTask = task
    }

    /// Hears what is loaded.
    open var client: (any URLProtocolClient)? { givenClient }

    /// What is to be loaded: the canonical form of the task's request, with the session's additional fields and the
    /// task's body (B14.35, B14.38, B14.39).
    open var request: URLRequest { givenRequest }

    /// What the session's cache has for the request, to be confirmed or left aside (B14.37).
    open var cachedResponse: CachedURLResponse? { givenResponse }

    /// The task; nil where the instance was not made by a session.
    open var task: URLSessionTask? { givenTask }

    /// Whether the class takes this request; to be overridden.
    @discardableResult
    open class func canInit(with request: URLRequest) -> Bool {
        ErrorText.reportMisuse("\(self) does not override canInit(with:); it gets nothing to load")
        return false
    }

    /// Whether the class takes the load of this task; unless overridden, what it says to the task's request (B14.34).
    @discardableResult
    open class func canInit(with task: URLSessionTask) -> Bool {
        guard let request = task.currentRequest else { return false }
        return canInit(with: request)
    }

    /// The one form of all requests that mean the same; unless overridden, the request itself (B14.35).
    @discardableResult
    open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Whether one stored answer serves both; unless overridden, whether this class takes both and their canonical
    /// forms are equal (B14.36).
    ///
    /// Sessions do not ask it, since stored answers are found by the canonical request: override
    /// `canonicalRequest(for:)` to have one answer serve several requests.
    @discardableResult
    open class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool {
        canInit(with: a) && canInit(with: b) && canonicalRequest(for: a) == canonicalRequest(for: b)
    }

    /// Begins to load; to be overridden.
    open func startLoading() {
        client?.urlProtocol(
            self,
            didFailWithError: LoadFailure.unsupportedURL(
                request.url, "\(type(of: self)) does not override startLoading()."))
    }

    /// Ends what was begun: called once, when the load has ended, has led elsewhere or is cancelled (B14.42). What the
    /// client is told afterwards is ignored.
    open func stopLoading() {}

    // MARK: Properties and registration

    /// What was attached to a request under a key (B14.40).
    @discardableResult
    open class func property(forKey key: String, in request: URLRequest) -> Any? {
        request.values.properties?.values[key]
    }

    /// Attaches something to a request: it stays with copies, with the request as `URLRequest` and over redirects, and
    /// is never sent (B14.40). The value is handed to other threads as it is.
    open class func setProperty(_ value: Any, forKey key: String, in request: NSMutableURLRequest) {
        request.changeProperties { $0[key] = value }
    }

    /// Takes it away.
    open class func removeProperty(forKey key: String, in request: NSMutableURLRequest) {
        request.changeProperties { $0[key] = nil }
    }

    /// Puts a class before those that were registered earlier, for the shared session and for configurations that are
    /// made from now on (B14.30, B14.31). False for what is no subclass of `URLProtocol`.
    @discardableResult
    open class func registerClass(_ protocolClass: AnyClass) -> Bool {
        guard let type = protocolClass as? URLProtocol.Type else { return false }
        ProtocolRegistry.shared.add(type)
        return true
    }

    /// The class is asked about no load any more.
    open class func unregisterClass(_ protocolClass: AnyClass) {
        if let type = protocolClass as? URLProtocol.Type { ProtocolRegistry.shared.remove(type) }
    }
}

/// What `URLProtocol` attaches to a request.
///
/// Unchecked because `Any` may be anything. The dictionary itself is a value in a request, and guarded like the
/// request: it is never changed while it is shared (`RequestStorage`). What it holds is never called here, only handed
/// out again, and what is an object in it is the program's own to guard, as on Apple's platforms.
struct RequestProperties: @unchecked Sendable {
    private var held = LentObject<[String: Any]>([:])

    var values: [String: Any] {
        get { held.object ?? [:] }
        set { held = LentObject(newValue) }
    }
}
