// Which list of public suffixes is used: that of the system or the library's own (behaviour B8.33).

import Foundation
import Testing
import URLLoading
import URLLoadingPolicy
import URLLoadingTestSupport

@Suite("The system's public suffixes")
struct SystemSuffixTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "suffixes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func list(_ name: String, version: String? = nil, count: Int = 200) throws -> String {
        let head = version.map { "// VERSION: \($0)_07-27-09_UTC\n" } ?? ""
        let rules = (0..<count).map { "\(name)\($0).test\n" }.joined()
        let file = folder.appending(path: name)
        try Data((head + "// words\n" + rules).utf8).write(to: file)
        return file.path
    }

    @Test("B8.33: a newer list of the system's wins, an older or equal one does not")
    func newer() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try list("a", version: "2024-08-13")
        for day in ["2023-02-09", "2024-08-12"] {
            #expect(SystemSuffixes.newest(in: [path], than: day)?.isPublicSuffix("a7.test") == true)
        }
        for day in ["2024-08-13", "2025-01-01"] { #expect(SystemSuffixes.newest(in: [path], than: day) == nil) }
    }

    @Test("B8.33: a list that does not name its date is as old as its file")
    func dated() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try list("a")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)], ofItemAtPath: path)
        #expect(SystemSuffixes.newest(in: [path], than: "2023-11-13") != nil)
        #expect(SystemSuffixes.newest(in: [path], than: "2023-11-14") == nil)
    }

    @Test("B8.33: the first file that is a list counts; without one there is none")
    func first() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let torn = try list("torn", version: "2026-01-01", count: 5)
        let good = try list("good", version: "2026-01-01")
        let missing = folder.appending(path: "missing").path
        let found = SystemSuffixes.newest(in: [missing, torn, good], than: "2023-02-09")
        #expect(found?.isPublicSuffix("good7.test") == true)
        #expect(SystemSuffixes.newest(in: [missing, torn], than: "2023-02-09") == nil)
    }

    @Test("B8.33: the built-in rules name the day of their list")
    func day() {
        #expect(PublicSuffixes.builtInDate.wholeMatch(of: /20\d\d-\d\d-\d\d/) != nil)
        #expect(SystemSuffixes.current.isPublicSuffix("s3.amazonaws.com"))
    }
}
