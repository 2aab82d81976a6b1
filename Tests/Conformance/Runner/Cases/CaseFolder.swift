// The case files of a folder, and the list of those cases that are known to fail.
//
// Must not know: what a case is about.

import Foundation

/// Reads files.
enum CaseFolder {
    /// The cases of all files whose names end in ".case", in the order of their names.
    static func cases(in folder: String) throws -> [ConformanceCase] {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".case") }
        var cases: [ConformanceCase] = []
        var places: [String: String] = [:]
        for file in files.sorted() {
            for conformanceCase in try CaseReader.cases(of: text(folder + "/" + file), file: file) {
                if let place = places.updateValue(conformanceCase.place, forKey: conformanceCase.name) {
                    throw CaseFolderFault("\(conformanceCase.place): \(conformanceCase.name) stands at \(place) too")
                }
                cases.append(conformanceCase)
            }
        }
        return cases
    }

    /// The names in a list of cases that are known to fail; one that no case bears is a fault.
    static func expectedFailures(in file: String?, of cases: [ConformanceCase]) throws -> Set<String> {
        guard let file else { return [] }
        let known = Set(cases.map(\.name))
        var names: Set<String> = []
        for (index, line) in try text(file).split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        where !line.isEmpty && !line.hasPrefix("#") {
            guard known.contains(String(line)) else {
                throw CaseFolderFault("\(file):\(index + 1): there is no case \"\(line)\"")
            }
            names.insert(String(line))
        }
        return names
    }

    private static func text(_ path: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: path),
            let text = String(validating: data, as: UTF8.self)
        else { throw CaseFolderFault("\(path) cannot be read as text") }
        return text
    }
}

/// What is wrong with a folder of cases.
struct CaseFolderFault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
