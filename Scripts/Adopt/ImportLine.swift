// What an import of FoundationNetworking becomes.

/// A line that imports FoundationNetworking, or something of it.
struct ImportLine {
    /// Why it cannot be an import of URLLoading as well. Nil where it can.
    let obstacle: String?

    /// Nil where the line is no such import.
    init?(code: String) {
        guard code.contains("FoundationNetworking") else { return nil }
        let words = code.split { $0 == " " || $0 == "\t" || $0 == "\r" }.map(String.init)
        guard let place = words.firstIndex(of: "import"),
            words[..<place].allSatisfy({ $0.hasPrefix("@") || Self.levels.contains($0) })
        else {
            obstacle = "more than one statement stands in the line"
            guard code.contains(";"), words.contains("import") else { return nil }
            return
        }
        let rest = words[(place + 1)...]
        guard let path = rest.last, path.split(separator: ".").first == "FoundationNetworking" else {
            obstacle = "more than one statement stands in the line"
            guard code.contains(";") else { return nil }
            return
        }
        if code.contains(";") || rest.count > 2 {
            obstacle = "more than one statement stands in the line"
        } else if let attribute = words[..<place].first(where: { $0.hasPrefix("@") && !Self.attributes.contains($0) }) {
            obstacle = "\(attribute) asks for what URLLoading may not have"
        } else if rest.count == 2, let kind = rest.first, !Self.kinds.contains(kind) {
            obstacle = "it imports a \(kind), which may be another one in URLLoading"
        } else {
            obstacle = nil
        }
    }

    private static let levels: Set = ["public", "package", "internal", "fileprivate", "private"]
    private static let attributes: Set = ["@preconcurrency", "@_exported", "@_implementationOnly"]
    private static let kinds: Set = ["class", "struct", "enum", "protocol"]
}
