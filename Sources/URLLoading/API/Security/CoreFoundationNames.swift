// Core Foundation's names for Foundation's classes, as far as Security's functions have them in their signatures.
// Foundation on Linux does not show Core Foundation; a file that imports it itself finds these names twice.

import Dispatch
import Foundation

/// An array, by the name that C code has for it.
public typealias CFArray = NSArray
/// A string, by the name that C code has for it.
public typealias CFString = NSString
/// Bytes, by the name that C code has for them.
public typealias CFData = NSData
/// A dictionary, by the name that C code has for it.
public typealias CFDictionary = NSDictionary
/// A moment, by the name that C code has for it.
public typealias CFDate = NSDate
/// An error, by the name that C code has for it.
public typealias CFError = NSError
/// Any object.
public typealias CFTypeRef = AnyObject
/// A number, by the name that C code has for it.
public typealias CFNumber = NSNumber
/// A truth value, by the name that C code has for it.
public typealias CFBoolean = NSNumber
/// A count or an index.
public typealias CFIndex = Int
/// A set of flags.
public typealias CFOptionFlags = UInt
/// The number of a type.
public typealias CFTypeID = UInt
/// Seconds since the first moment of 2001.
public typealias CFAbsoluteTime = Double
/// What would allocate memory; here nothing is done with it.
public typealias CFAllocator = AnyObject
/// The result of a function: 0, or a code that `SecCopyErrorMessageString` explains.
public typealias OSStatus = Int32
/// A truth value as C code has it.
public typealias DarwinBoolean = ObjCBool
/// A queue, by the name that C code has for it.
public typealias dispatch_queue_t = DispatchQueue

// Unsafe in name only: it is nil for ever.

/// The default allocator: none is named.
public nonisolated(unsafe) let kCFAllocatorDefault: CFAllocator? = nil
/// True.
public let kCFBooleanTrue: CFBoolean = NSNumber(value: true)
/// False.
public let kCFBooleanFalse: CFBoolean = NSNumber(value: false)

/// The number of an object's type; 0 for one that is none of Security's, and for nil.
@discardableResult
public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID {
    switch cf {
    case is SecTrust: SecTypeID.trust
    case is SecPolicy: SecTypeID.policy
    case is SecCertificate: SecTypeID.certificate
    case is SecKey: SecTypeID.key
    case is SecIdentity: SecTypeID.identity
    default: 0
    }
}

/// The error's code; 0 for nil.
@discardableResult
public func CFErrorGetCode(_ err: CFError!) -> CFIndex {
    guard let err = err as CFError? else { return 0 }
    return err.code
}

/// The error's domain; empty for nil.
@discardableResult
public func CFErrorGetDomain(_ err: CFError!) -> CFString {
    guard let err = err as CFError? else { return "" }
    return NSString(string: err.domain)
}

/// The error's description for a person; empty for nil.
@discardableResult
public func CFErrorCopyDescription(_ err: CFError!) -> CFString {
    guard let err = err as CFError? else { return "" }
    return NSString(string: err.localizedDescription)
}

/// What else the error tells; empty for nil.
@discardableResult
public func CFErrorCopyUserInfo(_ err: CFError!) -> CFDictionary {
    guard let err = err as CFError? else { return NSDictionary() }
    return err.userInfo as NSDictionary
}

/// How many elements the array has; 0 for nil.
@discardableResult
public func CFArrayGetCount(_ theArray: CFArray!) -> CFIndex {
    guard let array = theArray as CFArray? else { return 0 }
    return array.count
}

/// How many bytes there are; 0 for nil.
@discardableResult
public func CFDataGetLength(_ theData: CFData!) -> CFIndex {
    guard let data = theData as CFData? else { return 0 }
    return data.length
}

/// The numbers of Security's types, which mean nothing but that they differ.
enum SecTypeID {
    static let trust: CFTypeID = 1001
    static let policy: CFTypeID = 1002
    static let certificate: CFTypeID = 1003
    static let key: CFTypeID = 1004
    static let identity: CFTypeID = 1005
}

extension NSDictionary {
    /// The value of a key that a program may have written as `String` or as `CFString`.
    func value(named key: CFString) -> Any? {
        self[key] ?? self[key as String]
    }

    /// The names of all keys; nil when one is no string.
    var keyNames: Set<String>? {
        var names: Set<String> = []
        for key in allKeys {
            guard let name = key as? String else { return nil }
            names.insert(name)
        }
        return names
    }
}

/// The elements of what may be one object or an array of such; nil when anything else is in it.
func elements<Element: AnyObject>(of value: CFTypeRef, as type: Element.Type = Element.self) -> [Element]? {
    if let one = value as? Element { return [one] }
    return value as? [Element]
}
