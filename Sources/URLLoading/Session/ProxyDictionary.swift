// The dictionary of `connectionProxyDictionary`: carried across threads as it was set, and read as plain values.
//
// Must not know: what the keys mean (that is `ProxyRules`).

import Foundation
import URLLoadingPolicy

/// A dictionary with Apple's keys for proxies.
///
/// Unchecked because `Any` may be anything; the dictionary is a value that is never changed in place, and what it holds
/// is only read, as text and numbers.
struct ProxyDictionary: @unchecked Sendable {
    let dictionary: [AnyHashable: Any]?

    /// The entries by the text of their keys, nil where there is no dictionary. Keys and values may be Swift's or
    /// Foundation's; what is neither text nor a number nor a list of texts is left out.
    var values: [String: ProxyDictionaryValue]? {
        guard let dictionary else { return nil }
        var values: [String: ProxyDictionaryValue] = [:]
        for (key, value) in dictionary {
            if let name = Self.text(key.base), let value = Self.value(value) { values[name] = value }
        }
        return values
    }

    private static func value(_ value: Any) -> ProxyDictionaryValue? {
        switch value {
        case let flag as Bool where type(of: value) == Bool.self: .number(flag ? 1 : 0)
        case let number as any BinaryInteger: .number(Int(clamping: number))
        case let number as NSNumber: .number(whole(number))
        case let list as [Any]: .list(list.compactMap(text))
        case let list as NSArray: .list(list.compactMap(text))
        default: text(value).map(ProxyDictionaryValue.text)
        }
    }

    /// A fraction below 1 is not 0: it is as good as any for a switch, and none for a port.
    private static func whole(_ number: NSNumber) -> Int {
        let whole = number.intValue
        return whole == 0 && number.doubleValue != 0 ? -1 : whole
    }

    private static func text(_ value: Any) -> String? {
        switch value {
        case let text as String: text
        case let text as NSString: String(describing: text)
        case let text as Substring: String(text)
        case let url as URL: url.absoluteString
        // Names in a type of their own, such as `StreamSOCKSProxyVersion`.
        case let name as any RawRepresentable: name.rawValue as? String
        default: nil
        }
    }
}
