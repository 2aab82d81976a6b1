import Testing
import URLLoadingSystem

/// Addresses and names that a program sets in place of hosts: behaviour 16.82.
struct HostOverridesTests {
    private static let overrides = HostOverrides([
        "Two.test": "10.0.0.1,::2", "ports.test": "10.0.0.1:81,[::2]:82,[::3]", "one.test:443": "10.0.0.3",
        "one.test": "10.0.0.4", "else.test": "other.test", "else.test:443": "other.test:8443", "port.test": ":8080",
        "first.test": "second.test", "second.test": "10.0.0.5", "round.test": "trip.test", "trip.test": "round.test",
        "self.test": "self.test", "10.0.0.9": "10.0.0.10", "*:70": "10.0.0.7", "set.test": "10.0.0.8",
        "moved.test": ":81", "moved.test:81": "10.0.0.11",
    ])

    private static func text(_ overrides: HostOverrides, _ host: String, _ port: Int) -> String {
        switch overrides.place(of: host, port: port) {
        case .addresses(let addresses): addresses.map(\.description).joined(separator: " ")
        case .host(let host, let port): "look up \(host) for \(port)"
        case .unusable(let text): "unusable \(text)"
        case nil: "nothing"
        }
    }

    @Test(
        "B16.82: addresses with and without ports, other names, and ports alone stand in for a host",
        arguments: [
            ("two.test", 80, "10.0.0.1:80 [::2]:80"), ("TWO.TEST", 443, "10.0.0.1:443 [::2]:443"),
            ("ports.test", 80, "10.0.0.1:81 [::2]:82 [::3]:80"),
            ("one.test", 443, "10.0.0.3:443"), ("one.test", 80, "10.0.0.4:80"),
            ("else.test", 80, "look up other.test for 80"), ("else.test", 443, "look up other.test for 8443"),
            ("port.test", 80, "look up port.test for 8080"), ("moved.test", 80, "10.0.0.11:81"),
            ("first.test", 80, "10.0.0.5:80"), ("round.test", 80, "look up trip.test for 80"),
            ("self.test", 80, "look up self.test for 80"),
            ("10.0.0.9", 80, "10.0.0.10:80"), ("10.0.0.8", 70, "nothing"),
            ("any.test", 70, "10.0.0.7:70"), ("any.test", 71, "nothing"), ("set.test", 70, "10.0.0.8:70"),
        ])
    func places(host: String, port: Int, expected: String) {
        #expect(Self.text(Self.overrides, host, port) == expected)
    }

    @Test(
        "B16.82: text that is neither an address nor a name cannot stand in for a host",
        arguments: [
            "", ",", "10.0.0.1,", "10.0.0.1,other.test", "10.0.0.256", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536",
            "10.0.0.1:+1", "[::1", "[::1]x", "[::1]:", "[10.0.0.1]:80", "[]", ":", ":0", ":x", "other.test:",
            "other test",
            "other.test:99999999999999999999", "a/b", "a\u{0}b", "ü.test", "...", "1.2", "http://other.test",
            String(repeating: "a", count: 255),
        ])
    func unusable(text: String) {
        #expect(Self.text(HostOverrides(["a.test": text]), "a.test", 80) == "unusable \(text)")
    }

    @Test("Without overrides nothing is set for a host")
    func none() { #expect(Self.text(HostOverrides(), "a.test", 80) == "nothing") }
}
