// The clients that are compared: this library's, by each interface, and the peers that are installed.

import Foundation

/// A program with the common command line.
struct Contestant: Sendable {
    /// What bars and result files call it.
    let name: String
    let program: String
    var arguments: [String] = []
    var environment: [String: String] = [:]
    /// Whether its uploads are so slow that they are measured with a smaller file.
    var uploadsSlowly = false
    /// Whether it cannot look up anchors in a directory.
    var needsAnchorFile = false

    /// Whether it is a client of the URL Loading System's API.
    var isSession: Bool { isOurs || name == Contestant.foundation }

    var isOurs: Bool { name.hasPrefix(Contestant.ours) }

    /// The name of this library's client by its standard interface.
    static let ours = "urlloading"
    private static let foundation = "foundation-networking"

    /// This library's client, built beside the harness.
    static func client(interface: String? = nil) throws -> Contestant {
        let program = directoryOfThisProgram.appendingPathComponent("URLLoadingClient").path
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw HarnessError("\(program) is not there: swift build -c release builds it")
        }
        return Contestant(
            name: name(of: interface), program: program, arguments: interface.map { ["--interface", $0] } ?? [])
    }

    /// What this library's client is called by one of its interfaces; nil stands for the standard one.
    static func name(of interface: String?) -> String {
        interface.map { "\(ours)-\($0)" } ?? ours
    }

    /// The peers in the order of the tables, those that are not installed included as nil programs.
    static func peers(in directory: URL) -> (present: [Contestant], missing: [String]) {
        var present: [Contestant] = []
        var missing: [String] = []
        for name in peerNames {
            let program = directory.appendingPathComponent(name).path
            guard FileManager.default.isExecutableFile(atPath: program) else {
                missing.append(name)
                continue
            }
            var peer = Contestant(name: name, program: program)
            if FileManager.default.fileExists(atPath: program + ".so") {
                peer.environment["LD_PRELOAD"] = program + ".so"
            }
            if name == foundation {
                peer.uploadsSlowly = true
                peer.needsAnchorFile = true
            }
            present.append(peer)
        }
        return (present, missing)
    }

    /// The directory in which the build puts its programs.
    static let directoryOfThisProgram: URL = {
        let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(fileURLWithPath: link ?? CommandLine.arguments[0]).deletingLastPathComponent()
    }()

    private static let peerNames = [
        "floor", "hyper", "reqwest", "libcurl-multi", "libcurl-easy", "curl", "go", foundation, "websockets",
        "h2load",
    ]
}
