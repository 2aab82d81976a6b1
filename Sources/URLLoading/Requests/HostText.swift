// Names of hosts in ASCII, wherever programs and users may write them in letters of their own (B16.69).
//
// Must not know: what stands around a name.

import Foundation

extension String {
    /// The name in ASCII, as Foundation writes the hosts of URLs; nil where it has no such form.
    var hostInASCII: String? {
        var parts = URLComponents()
        parts.host = self
        // Foundation percent-encodes what it cannot convert.
        return parts.encodedHost.flatMap { $0.utf8.contains(0x25) ? nil : $0 }
    }

    /// A text in which names stand, such as a list of domains, with each of them in ASCII. What has no
    /// such form stays as it is.
    var withHostsInASCII: String {
        guard utf8.contains(where: { $0 >= 0x80 }) else { return self }
        var text = ""
        var rest = self[...]
        while let isLabel = rest.first?.isOfLabel {
            let run = String(rest.prefix { $0.isOfLabel == isLabel })
            text += isLabel ? run.hostInASCII ?? run : run
            rest = rest.dropFirst(run.count)
        }
        return text
    }
}

extension Character {
    /// Whether it may be part of a name's label. What separates labels, names, ports and patterns is not.
    fileprivate var isOfLabel: Bool {
        isASCII ? isLetter || isNumber || self == "-" || self == "_" : !isWhitespace
    }
}
