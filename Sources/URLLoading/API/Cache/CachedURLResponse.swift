// A response, its body and how they may be kept.
//
// Must not know: where they are kept, and whether they may still be used.

import Foundation
import Synchronization
import URLLoadingPolicy

/// A response as a cache keeps it.
open class CachedURLResponse: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Safe to share: what changes is behind a Mutex. `userInfo` may hold anything, but is only handed out again.
    private let givenResponse: URLResponse
    private let givenData: Data
    private let givenInfo: [AnyHashable: Any]?
    private let givenPolicy: URLCache.StoragePolicy
    /// How the response came, where a loader or a cache knows.
    let answer: StoredAnswer?
    private let mark: Mutex<AnswerTrust>

    /// Makes one that may be kept anywhere.
    public init(response: URLResponse, data: Data) {
        givenResponse = response
        givenData = data
        givenInfo = nil
        givenPolicy = .allowed
        answer = nil
        mark = Mutex(Self.trust(in: response))
        super.init()
    }

    /// Makes one with what the program wants to keep beside it, and where it may be kept.
    public init(
        response: URLResponse, data: Data, userInfo: [AnyHashable: Any]? = nil, storagePolicy: URLCache.StoragePolicy
    ) {
        givenResponse = response
        givenData = data
        givenInfo = userInfo
        givenPolicy = storagePolicy
        answer = nil
        mark = Mutex(Self.trust(in: response))
        super.init()
    }

    /// Makes one of which it is known how it came.
    init(
        response: URLResponse, data: Data, userInfo: [AnyHashable: Any]?, storagePolicy: URLCache.StoragePolicy,
        answer: StoredAnswer
    ) {
        givenResponse = response
        givenData = data
        givenInfo = userInfo
        givenPolicy = storagePolicy
        self.answer = answer
        mark = Mutex(answer.trust)
        super.init()
    }

    /// Reads one from a keyed archive; nil where it has no response.
    public required init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding,
            let response = coder.decodeObject(of: [HTTPURLResponse.self, URLResponse.self], forKey: Key.response)
                as? URLResponse
        else { return nil }
        givenResponse = response
        givenData = coder.decodeObject(of: NSData.self, forKey: Key.data).map { $0 as Data } ?? Data()
        let info = coder.decodeObject(of: NSData.self, forKey: Key.userInfo).map { $0 as Data }
        givenInfo = info.flatMap(PropertyListInfo.decoded)
        givenPolicy =
            URLCache.StoragePolicy(rawValue: UInt(clamping: coder.decodeInteger(forKey: Key.policy))) ?? .notAllowed
        answer = nil
        mark = Mutex(AnswerTrust.read(from: coder, forKey: Key.trust))
        super.init()
    }

    /// Writes it to a keyed archive; of `userInfo` what a property list can hold.
    open func encode(with coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return }
        coder.encode(response, forKey: Key.response)
        coder.encode(data as NSData, forKey: Key.data)
        coder.encode(Int(clamping: storagePolicy.rawValue), forKey: Key.policy)
        coder.encode(PropertyListInfo.encoded(userInfo).map { $0 as NSData }, forKey: Key.userInfo)
        trust.write(to: coder, forKey: Key.trust)
    }

    /// How the server was trusted: as the loader says; as the response says that a loader has made; else the program
    /// has made all of it, and vouches for it (B7.102).
    var trust: AnswerTrust { mark.withLock { $0 } }

    /// Notes that it was made of an answer that came so.
    func comes(by trust: AnswerTrust) {
        mark.withLock { $0 = $0.joined(with: trust) ?? .unknown }
    }

    private static func trust(in response: URLResponse) -> AnswerTrust {
        (response as? HTTPURLResponse)?.trust ?? .program
    }

    /// Whether it and its response are of this library's own classes, so that nothing asks the program.
    var isPlain: Bool { type(of: self) == CachedURLResponse.self && givenResponse.isPlain }

    /// They can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Gives the object itself: it cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func copy() -> Any { self }

    /// The response.
    open var response: URLResponse { givenResponse }

    /// The body, its content coding undone (B7.53).
    open var data: Data { givenData }

    /// What the program keeps with it. In memory it stays as it is; of what is kept on disk only what a property list
    /// can hold comes back (B7.20).
    open var userInfo: [AnyHashable: Any]? { givenInfo }

    /// Where it may be kept (B7.14).
    open var storagePolicy: URLCache.StoragePolicy { givenPolicy }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CachedURLResponse else { return false }
        if self === other { return true }
        return storagePolicy == other.storagePolicy && data == other.data && response.isEqual(other.response)
            && PropertyListInfo.isEqual(userInfo, other.userInfo)
    }

    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(response)
        hasher.combine(data)
        hasher.combine(storagePolicy)
        return hasher.finalize()
    }

    open override var description: String {
        "<CachedURLResponse: \(response), \(data.count) bytes>"
    }

    private enum Key {
        static let response = "response"
        static let data = "data"
        static let userInfo = "userInfo"
        static let policy = "storagePolicy"
        static let trust = "serverTrust"
    }
}

extension AnswerTrust {
    /// Notes it in a keyed archive.
    func write(to coder: NSCoder, forKey key: String) {
        coder.encode(Data(encoded) as NSData, forKey: key)
    }

    /// What an archive says; not known where it says nothing, as those of earlier versions.
    static func read(from coder: NSCoder, forKey key: String) -> AnswerTrust {
        coder.decodeObject(of: NSData.self, forKey: key).flatMap { AnswerTrust(encoded: Array($0 as Data)) } ?? .unknown
    }
}

/// The part of `userInfo` that a property list can hold.
enum PropertyListInfo {
    /// The bytes of that part; nil where nothing is left.
    static func encoded(_ info: [AnyHashable: Any]?) -> Data? {
        guard let info else { return nil }
        var kept: [String: Any] = [:]
        for (key, value) in info {
            if let name = key.base as? String, PropertyListSerialization.propertyList(value, isValidFor: .binary) {
                kept[name] = value
            }
        }
        guard !kept.isEmpty else { return nil }
        return try? PropertyListSerialization.data(fromPropertyList: kept, format: .binary, options: 0)
    }

    /// What bytes say; nil where they are none of ours.
    static func decoded(_ bytes: Data) -> [AnyHashable: Any]? {
        (try? PropertyListSerialization.propertyList(from: bytes, format: nil)) as? [String: Any]
    }

    /// Whether both hold the same, as far as values can be compared.
    static func isEqual(_ left: [AnyHashable: Any]?, _ right: [AnyHashable: Any]?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        guard left.count == right.count else { return false }
        return left.allSatisfy { key, value in
            guard let other = right[key] else { return false }
            if let value = value as? AnyHashable, let other = other as? AnyHashable { return value == other }
            return (value as AnyObject) === (other as AnyObject)
        }
    }
}
