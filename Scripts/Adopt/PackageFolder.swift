// Which files of a folder are looked at, and which can be changed.

import Foundation

/// A file that is looked at.
struct PackageFile {
    let url: URL
    /// Its path in the folder that was named.
    let name: String
    let text: String
    /// Whether the file may be written.
    let isWritable: Bool
}

/// What is found in a folder.
struct PackageFolder {
    private(set) var files: [PackageFile] = []
    /// The names of files that are no text, and of links.
    private(set) var leftAlone: [(name: String, reason: String)] = []

    init(_ url: URL) {
        walk(url, "")
        files.sort { $0.name < $1.name }
        leftAlone.sort { $0.name < $1.name }
    }

    private mutating func walk(_ folder: URL, _ prefix: String) {
        for entry in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
            let url = folder.appendingPathComponent(entry)
            guard !entry.hasPrefix("."), !Self.foreign.contains(entry),
                let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
            else { continue }
            let name = prefix + entry
            switch attributes[.type] as? FileAttributeType {
            case .typeDirectory: walk(url, name + "/")
            case .typeSymbolicLink:
                if entry.hasSuffix(".swift") { leftAlone.append((name, "it is a symbolic link")) }
            case .typeRegular:
                guard entry.hasSuffix(".swift") else { continue }
                let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
                guard let data = try? Data(contentsOf: url), let text = String(validating: data, as: UTF8.self) else {
                    leftAlone.append((name, "it cannot be read as UTF-8"))
                    continue
                }
                let isWritable = mode & 0o222 != 0 && FileManager.default.isWritableFile(atPath: url.path)
                files.append(PackageFile(url: url, name: name, text: text, isWritable: isWritable))
            default: continue
            }
        }
    }

    /// Folders of other people's code. Those with a dot in front, as `.build`, are left alone anyway.
    private static let foreign: Set = ["Carthage", "DerivedData", "Packages", "Pods", "node_modules"]
}
