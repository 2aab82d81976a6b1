// Directories into which only their owner may write, and those that only look like one.

import Foundation
import Testing
import URLLoadingSystem

@Suite("Private folders")
struct PrivateFolderTests {
    @Test("A link to a private folder is not a private folder, whatever follows its name")
    func links() throws {
        let place = FileManager.default.temporaryDirectory.path + "/private-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: place) }
        let (folder, link) = (place + "/folder", place + "/link")
        #expect(PrivateFolder(path: folder) != nil && PrivateFolder(existing: folder) != nil)
        #expect(PrivateFolder(path: folder + "//")?.path == folder)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder)
        for name in [link, link + "/", link + "//"] {
            #expect(PrivateFolder(path: name) == nil && PrivateFolder(existing: name) == nil, "\(name)")
        }
        // Only the last folder of the path has to be private, so a link above it is allowed.
        #expect(PrivateFolder(path: link + "/below") != nil)
        try FileManager.default.setAttributes([.posixPermissions: 0o770], ofItemAtPath: folder)
        #expect(PrivateFolder(path: folder) == nil)
    }

    @Test("A link to nowhere makes no folder")
    func nowhere() throws {
        let place = FileManager.default.temporaryDirectory.path + "/private-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: place) }
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: place + "/link", withDestinationPath: place + "/none")
        #expect(PrivateFolder(path: place + "/link") == nil)
        #expect(!FileManager.default.fileExists(atPath: place + "/none"))
    }
}
