// Which names a table of hosts has.

import Testing
import URLLoadingSystem

@Suite("Table of hosts")
struct HostsFileTests {
    private static let table = """
        # remark.example
        127.0.0.1 localhost
        10.0.0.1\tone.example One  last.example# 10.0.0.2 behind.example
        10.0.0.3
            fd00::1 \t indented.example\r
        10.0.0.4 unended.example
        """

    private func has(_ name: String, _ table: String = Self.table) -> Bool {
        Array(table.utf8).withUnsafeBytes { HostsFile.names(name, in: $0) }
    }

    @Test(
        "B16.14: names in any place of a line and in any case are found",
        arguments: [
            "localhost", "one.example", "ONE.example", "one", "last.example", "indented.example", "unended.example",
        ])
    func found(name: String) {
        #expect(has(name))
    }

    @Test(
        "B16.14: addresses, remarks, parts of names and names that are not there are none",
        arguments: [
            "remark.example", "behind.example", "10.0.0.1", "10.0.0.3", "fd00::1", "example", "one.exampl", "", " ",
            "#",
            "nowhere.example",
        ])
    func notFound(name: String) {
        #expect(!has(name))
        #expect(!has(name, ""))
    }

    @Test("B16.14: no table, and one that is a folder, has no name")
    func noTable() {
        for path in ["/nowhere/hosts", "/"] { #expect(!HostsFile(path: path).has("localhost")) }
    }
}
