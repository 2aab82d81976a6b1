// Compares a frame that has come with the parts of its line. A name that begins with a capital letter is about the
// frame itself, any other is a field of its block or a setting.
//
// Must not know: drivers and servers.

import URLLoadingLoopbackServer
import URLLoadingWire

/// A frame, and what came before it.
struct HTTP2Checks {
    let sight: HTTP2Sight
    let place: Int
    let words: KnownWords

    private var frame: HTTP2ReceivedFrame { sight.frames[place] }

    /// Throws where the frame is not as the parts say.
    func check(_ parts: [CaseLine.Part]) throws {
        let isAboutFrame: (CaseLine.Part) -> Bool = { $0.name.first?.isUppercase == true }
        for part in parts.filter(isAboutFrame) {
            if let complaint = try complaint(part.name, part.value.map(words.text) ?? "") {
                throw CaseFailure("\(part.name) is \(complaint)")
            }
        }
        let inside = parts.filter { !isAboutFrame($0) }
        guard !inside.isEmpty else { return }
        let fields = frame.type == .headers ? try sight.fields(at: place) : []
        try Checks.fields(inside, words) { name in
            guard frame.type == .settings else { return fields.filter { $0.name == name }.map(\.value) }
            let identifier = try? HTTP2Words.setting(name)
            return frame.settings.filter { $0.identifier == identifier }.map { "\($0.value)" }
        }
    }

    /// What a property of the frame is where it is not as expected.
    private func complaint(_ name: String, _ expected: String) throws -> String? {
        let found: String
        switch name {
        case "End": found = frame.endsStream ? "yes" : "no"
        case "Code": found = frame.code.map { "\($0)" } ?? "none"
        case "Increment": found = frame.increment.map { "\($0)" } ?? "none"
        case "Length": found = "\(frame.header.length)"
        case "Payload": found = String(decoding: frame.payload, as: UTF8.self)
        case "Stream": found = "\(frame.header.stream)"
        case "Connection": found = "\(frame.connection)"
        case "Names":
            // Those with which the block begins.
            let names = try sight.fields(at: place).map(\.name)
            found = names.prefix(expected.split(separator: " ").count).joined(separator: " ")
        default: throw CaseFailure("a frame has no \(name)")
        }
        return found == expected ? nil : "\"\(found)\", not \"\(expected)\""
    }
}
