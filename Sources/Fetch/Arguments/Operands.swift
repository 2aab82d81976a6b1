// What stands on the command line without a hyphen becomes URLs, each with the place of its body. Pure.

import Foundation

extension Options {
    /// Makes targets of the operands: choices in braces and brackets are made, schemes guessed, files named.
    package mutating func settleOperands() throws(UsageError) {
        if let request = try Shorthand(operands) { try take(request) }
        // `-O` by itself is for all URLs; where files are named as well each stands for the URL of its place.
        let areAllRemote = !outputs.contains { $0 != .remoteName }
        guard areAllRemote || outputs.count <= operands.count else {
            throw UsageError(
                "there are more --output than URLs", advice: "each --output is for one URL, in their order")
        }
        var targets: [Target] = []
        for (number, operand) in operands.enumerated() {
            let output = areAllRemote ? outputs.first : number < outputs.count ? outputs[number] : nil
            let pattern = takesURLsLiterally ? URLPattern(literal: operand) : try URLPattern(operand)
            guard let count = pattern.count, targets.count + count <= URLPattern.most else {
                throw UsageError("these are more than \(URLPattern.most) URLs", code: .badURL)
            }
            for expansion in pattern.expansions {
                let reading = try URLGuess.read(expansion.text, scheme: usualScheme)
                targets.append(
                    Target(
                        reading.url, output: output.map { place($0, expansion.chosen) }, mayBePlain: reading.mayBePlain)
                )
            }
        }
        self.targets = targets
        comparison = try comparedURL.map { (text) throws(UsageError) in try URLGuess.read(text, scheme: usualScheme).url
        }
    }

    /// A request in short; what the options say besides stays.
    private mutating func take(_ request: Shorthand) throws(UsageError) {
        guard method == nil else {
            throw UsageError("--request and \(request.method.lowercased()) both name the method")
        }
        method = request.method
        showsHead = showsHead || method == "HEAD"
        fields += request.fields
        query += request.query
        operands = [request.url]
        guard request.body != .none else { return }
        guard body == .none else { throw Self.twoBodies }
        body = request.body
    }

    /// A file's name with what was chosen in it.
    private func place(_ output: OutputChoice, _ chosen: [String]) -> OutputChoice {
        guard case .file(let name) = output, name != "-" else { return output }
        return .file(URLPattern.fill(name, with: chosen))
    }
}
