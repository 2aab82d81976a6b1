// The whole way: the sources of every package in a folder, then its manifests, and what is told about both.

import Foundation

/// One run of the command.
struct Adoption {
    let folder: PackageFolder
    let address: Manifest.Address
    let writes: Bool
    private var names: KnownNames
    private var changed = 0
    private var left = 0

    init(folder: PackageFolder, address: Manifest.Address, surface: String, writes: Bool) {
        self.folder = folder
        self.address = address
        self.writes = writes
        names = KnownNames(surface: surface)
    }

    /// Looks at every file, tells about it and, if wanted, changes it.
    mutating func run() throws {
        let manifests = folder.files.filter { Self.isManifest($0.name) }
        let sources = folder.files.filter { !Self.isManifest($0.name) }
        let parsed = sources.map { SourceFile($0.text) }
        for source in parsed { names.learn(source.code) }

        // By the folder of its package.
        var needing: [String: [String]] = [:]
        let packages = Set(manifests.map { Self.package($0.name) })
        for (file, source) in zip(sources, parsed) {
            let findings = source.findings(names)
            try settle(file, findings)
            let package = packages.filter { file.name.hasPrefix($0) }.max { $0.utf8.count < $1.utf8.count }
            if findings.needsURLLoading, let package {
                needing[package, default: []].append(String(file.name.dropFirst(package.count)))
            }
        }
        for file in manifests {
            let files = needing[Self.package(file.name)] ?? []
            guard let manifest = Manifest(file.text) else {
                if !files.isEmpty { tell(file.name, "it has not one Package(…) that was understood") }
                continue
            }
            try settle(file, manifest.findings(address, needing: files))
        }
        for (name, reason) in folder.leftAlone { tell(name, reason) }
        print(summary)
    }

    private mutating func settle(_ file: PackageFile, _ findings: Findings) throws {
        let old = file.text.linesOfText
        if findings.lines != old {
            guard file.isWritable else { return tell(file.name, "it is read-only, and has to be changed") }
            changed += 1
            print(file.name)
            for line in Self.differences(old, findings.lines) { print("    " + line) }
            if writes { try Data(findings.lines.joined(separator: "\n").utf8).write(to: file.url) }
        }
        for remark in findings.remarks {
            tell(file.name + (remark.line.map { ":\($0 + 1)" } ?? ""), remark.text)
        }
    }

    private mutating func tell(_ place: String, _ text: String) {
        left += 1
        print("left: \(place): \(text)")
    }

    private var summary: String {
        "\(changed) files \(writes ? "changed" : "to change"), \(left) places left to you"
            + (writes || changed == 0 ? "" : "; --write makes the changes")
    }

    /// The lines that go and come, with their numbers in the old text and the new.
    private static func differences(_ old: [String], _ new: [String]) -> [String] {
        let steps = new.difference(from: old)
        let removed = steps.removals.map { step in
            guard case .remove(let line, let text, _) = step else { return (line: 0, text: "") }
            return (line: line, text: "- \(line + 1): \(text)")
        }
        let added = steps.insertions.map { step in
            guard case .insert(let line, let text, _) = step else { return (line: 0, text: "") }
            return (line: line, text: "+ \(line + 1): \(text)")
        }
        return (removed + added).map { $0.text.filter { $0 != "\r" } }
    }

    private static func isManifest(_ name: String) -> Bool {
        let file = name.split(separator: "/").last ?? ""
        return file == "Package.swift" || file.hasPrefix("Package@swift-")
    }

    /// The folder of a file, with a slash behind it unless it is the one that was named.
    private static func package(_ name: String) -> String {
        name.lastIndex(of: "/").map { String(name[...$0]) } ?? ""
    }
}
