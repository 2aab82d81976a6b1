// The command `Scripts/adopt`: what it is told, and what it says of mistakes.

import Foundation

@main
enum Adopt {
    /// The first argument is the checkout of this library, which `Scripts/adopt` adds.
    static func main() {
        var arguments = CommandLine.arguments.dropFirst()
        let checkout = URL(fileURLWithPath: arguments.popFirst() ?? ".")
        var writes = false
        var url: String?
        var folder: String?
        while let argument = arguments.popFirst() {
            switch argument {
            case "--write": writes = true
            case "--url":
                guard let value = arguments.popFirst() else { return stop(usage) }
                url = value
            default:
                guard folder == nil, !argument.hasPrefix("-") else { return stop(usage) }
                folder = argument
            }
        }
        guard let folder else { return stop(usage) }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            return stop("\(folder) is no folder")
        }
        do {
            let surface = try String(
                contentsOf: checkout.appendingPathComponent("Tests/api-surface.txt"), encoding: .utf8)
            guard !(url ?? checkout.path).contains(where: { $0 == "\"" || $0 == "\\" || $0.isNewline }) else {
                return stop("an address with quotes or backslashes cannot stand in a manifest")
            }
            let address = try url.map { try remote($0, checkout) } ?? local(checkout)
            var adoption = Adoption(
                folder: PackageFolder(URL(fileURLWithPath: folder)), address: address, surface: surface,
                writes: writes)
            try adoption.run()
        } catch {
            stop("\(error)")
        }
    }

    private static let usage = "usage: Scripts/adopt [--write] [--url ADDRESS] FOLDER"

    private static func stop(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
        exit(64)
    }

    /// A dependency on this checkout.
    private static func local(_ checkout: URL) -> Manifest.Address {
        Manifest.Address(
            dependency: ".package(name: \"URLLoading\", path: \"\(checkout.path)\")", product: product("URLLoading"))
    }

    /// A dependency on the version of this checkout, from a repository.
    private static func remote(_ url: String, _ checkout: URL) throws -> Manifest.Address {
        let page = "Sources/URLLoading/API/Additions/LibraryVersion+Additions.swift"
        let text = try String(contentsOf: checkout.appendingPathComponent(page), encoding: .utf8)
        let version = text.split(separator: "\"").first { $0.first?.isNumber == true } ?? "0.0.0"
        var name = url.split(separator: "/").last.map(String.init) ?? url
        if name.hasSuffix(".git") { name.removeLast(4) }
        return Manifest.Address(
            dependency: ".package(url: \"\(url)\", from: \"\(version)\")", product: product(name))
    }

    private static func product(_ package: String) -> String {
        ".product(name: \"URLLoading\", package: \"\(package)\", condition: .when(platforms: [.linux]))"
    }
}
