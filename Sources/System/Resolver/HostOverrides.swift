// Where a program says that hosts are. Names and addresses as text: "name", "name:port", "*:port" and "*" on one side;
// on the other addresses with commas, each with or without a port, or another name, or a port alone.
//
// Must not know: what is looked up, and when.

/// The places that are set for hosts.
package struct HostOverrides: Sendable {
    private let texts: [String: String]

    /// What is set for a host and a port.
    package enum Place {
        /// Nothing has to be looked up.
        case addresses([SocketAddress])
        /// This is looked up in its stead.
        case host(String, port: Int)
        /// The text makes no sense.
        case unusable(String)
    }

    /// Takes what the program has set; names in any case.
    package init(_ texts: [String: String] = [:]) {
        self.texts = Dictionary(texts.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
    }

    /// The addresses that are set for a host, the host that is set in its stead, or nil where it is looked up as usual.
    ///
    /// What is set for one port comes before what is set for all. `*` is for names that have nothing of their own, and
    /// not for addresses.
    package func place(of host: String, port: Int) -> Place? {
        if texts.isEmpty { return nil }
        guard let next = set(for: host, port: port) else { return nil }
        // Addresses that are set for the other name count, and nothing goes further: so there is no circle.
        if case .host(let other, let otherPort) = next,
            case .addresses(let addresses)? = set(for: other, port: otherPort)
        {
            return .addresses(addresses)
        }
        return next
    }

    private func set(for host: String, port: Int) -> Place? {
        let name = host.lowercased()
        if let text = texts["\(name):\(port)"] ?? texts[name] { return Self.place(text, host: host, port: port) }
        guard let text = texts["*:\(port)"] ?? texts["*"], SocketAddress(literal: host, port: port) == nil else {
            return nil
        }
        return Self.place(text, host: host, port: port)
    }

    private static func place(_ text: String, host: String, port: Int) -> Place {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let addresses = parts.compactMap { address($0, port: port) }
        if addresses.count == parts.count { return .addresses(addresses) }
        guard parts.count == 1 else { return .unusable(text) }
        return otherPlace(parts[0], host: host, port: port) ?? .unusable(text)
    }

    /// "192.0.2.7", "192.0.2.7:8443", "2001:db8::7", "[2001:db8::7]" or "[2001:db8::7]:8443".
    private static func address(_ text: Substring, port: Int) -> SocketAddress? {
        if let address = SocketAddress(literal: String(text), port: port) { return address }
        if text.hasPrefix("["), let bracket = text.firstIndex(of: "]") {
            let literal = String(text[text.index(after: text.startIndex)..<bracket])
            let rest = text[text.index(after: bracket)...]
            guard literal.contains(":"), let port = rest.isEmpty ? port : self.port(rest) else { return nil }
            return SocketAddress(literal: literal, port: port)
        }
        guard let colon = text.firstIndex(of: ":"), let port = self.port(text[colon...]) else { return nil }
        return SocketAddress(literal: String(text[..<colon]), port: port)
    }

    /// "other.example", "other.example:8443" or ":8443".
    private static func otherPlace(_ text: Substring, host: String, port: Int) -> Place? {
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        let name = text[..<colon]
        guard let port = colon == text.endIndex ? port : self.port(text[colon...]) else { return nil }
        if name.isEmpty { return colon == text.endIndex ? nil : .host(host, port: port) }
        return isName(name) ? .host(String(name), port: port) : nil
    }

    /// Letters, digits, hyphens, underscores and dots, and not a mistyped address.
    private static func isName(_ text: Substring) -> Bool {
        text.utf8.count <= 254 && text.utf8.contains { $0 != UInt8(ascii: ".") && !isDigit($0) }
            && text.utf8.allSatisfy { byte in
                isDigit(byte) || (0x61...0x7A).contains(byte | 0x20) || [0x2D, 0x2E, 0x5F].contains(byte)
            }
    }

    /// ":8443".
    private static func port(_ text: Substring) -> Int? {
        let digits = text.dropFirst()
        guard text.first == ":", !digits.isEmpty, digits.utf8.allSatisfy(isDigit), let port = Int(digits), port > 0,
            port <= 65_535
        else { return nil }
        return port
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
