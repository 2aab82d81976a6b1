// Fields with bytes that are not UTF-8, as some servers send them.

import URLLoadingWire

extension Fields {
    /// Adds a field whose value is this text in ISO-8859-1.
    mutating func append(_ name: String, latin1 value: String) {
        value.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }.withUnsafeBytes { append(name, $0) }
    }
}
