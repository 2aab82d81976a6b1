// The file of known hosts: a line for each key, `host sha256/HEX`. Replaced as a whole by renaming, readable and
// writable by its owner only, so that no other user can add a key. Does not judge.

/// A file of hosts and their keys.
struct KnownHostsFile: Sendable {
    let path: String
    /// How long another process's lock is waited for.
    let patience: Duration

    /// The keys of each host; empty when there is no file.
    func read() throws(CertificateError) -> [String: [[UInt8]]] {
        switch Platform.privateContents(of: path, limit: Self.mostBytes) {
        case .missing: return [:]
        case .unsafe: throw .knownHosts("others than its owner may write \(path)")
        case .unreadable: throw .knownHosts("\(path) cannot be read")
        case .bytes(let bytes): return try parse(bytes)
        }
    }

    /// Adds a host that is not there yet; answers whether its key is this one. `tell` gets all keys before another
    /// process can change them.
    func add(
        _ host: String, _ key: [UInt8], tell: ([String: [[UInt8]]]) -> Void
    ) throws(CertificateError) -> Bool {
        try locked { () throws(CertificateError) in
            var all = try read()
            let pins = all[host]
            if pins == nil {
                all[host] = [key]
                try write(all)
            }
            tell(all)
            return pins?.contains { ConstantTime.equal($0, key) } ?? true
        }
    }

    /// Removes a host. `tell` gets all other keys before another process can change them.
    func remove(_ host: String, tell: ([String: [[UInt8]]]) -> Void) throws(CertificateError) {
        try locked { () throws(CertificateError) in
            var all = try read()
            if all.removeValue(forKey: host) != nil { try write(all) }
            tell(all)
        }
    }

    /// Whether the name can stand in a line.
    static func isWritable(_ host: String) -> Bool {
        !host.isEmpty && host.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }
    }

    private func locked<Result>(_ body: () throws(CertificateError) -> Result) throws(CertificateError) -> Result {
        switch Platform.lock(path + ".lock", patience: patience) {
        case .held: throw .knownHosts("another process has kept \(path).lock locked for \(patience)")
        case .unusable: throw .knownHosts("\(path).lock cannot be locked")
        case .locked(let lock):
            defer { Platform.unlock(lock) }
            return try body()
        }
    }

    private func write(_ all: [String: [[UInt8]]]) throws(CertificateError) {
        let lines = all.sorted { $0.key < $1.key }.flatMap { host, keys in
            keys.map { "\(host) \(Self.label)\($0.hexadecimal)\n" }
        }
        guard Platform.replace(path, with: Array(lines.joined().utf8)) else {
            throw .knownHosts("\(path) cannot be written")
        }
    }

    private func parse(_ bytes: [UInt8]) throws(CertificateError) -> [String: [[UInt8]]] {
        var all: [String: [[UInt8]]] = [:]
        for var line in bytes.split(separator: UInt8(ascii: "\n")) {
            // An editor elsewhere leaves such line ends.
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            let words = line.split(separator: UInt8(ascii: " "))
            guard let host = words.first, host.first != UInt8(ascii: "#") else { continue }
            let label = Array(Self.label.utf8)
            guard words.count == 2, words[1].starts(with: label), let key = Self.key(words[1].dropFirst(label.count))
            else { throw .knownHosts("\(path) has a line that is not understood") }
            // As hosts are asked for: a line in capitals is not overlooked.
            all[HostName(String(decoding: host, as: UTF8.self)).description, default: []].append(key)
        }
        return all
    }

    private static func key(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
        guard digits.count == 64 else { return nil }
        var key: [UInt8] = []
        var pending: UInt8?
        for digit in digits {
            guard let value = Character(UnicodeScalar(digit)).hexDigitValue else { return nil }
            if let high = pending {
                key.append(high << 4 | UInt8(value))
                pending = nil
            } else {
                pending = UInt8(value)
            }
        }
        return key
    }

    private static let label = "sha256/"
    private static let mostBytes = 16 << 20
}
