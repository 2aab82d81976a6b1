// Where the program is that carries transfers on, and how it is started. Must not know: sessions, what is said to it.

import Foundation
import Synchronization
import URLLoadingSystem

/// The helper's executable.
enum BackgroundHelper {
    /// What it is called.
    static let name = "urlloading-transfers"

    /// Where it is: where the program says, beside the running program, or on the path; nil where there is none.
    static func path(chosen: URL?) -> String? {
        if let chosen { return isExecutable(chosen.path) ? chosen.path : nil }
        if let own = ownPath, let slash = own.lastIndex(of: "/") {
            let beside = own[..<slash] + "/" + name
            if isExecutable(String(beside)) { return String(beside) }
        }
        return onPath(name)
    }

    private static func onPath(_ name: String) -> String? {
        let places = getenv("PATH").map { String(cString: $0) } ?? ""
        // An empty place is the working directory, which an attacker may have chosen.
        return places.split(separator: ":").lazy.map { $0 + "/" + name }.first { $0.hasPrefix("/") && isExecutable($0) }
            .map { String($0) }
    }

    /// An event hook with the place of its program, as this program finds it: a helper works in another directory. One
    /// that is not found stays as it is.
    static func located(hook: [String]) -> [String] {
        guard let name = hook.first, !name.hasPrefix("/") else { return hook }
        let place = name.contains("/") ? FileManager.default.currentDirectoryPath + "/" + name : onPath(name)
        guard let place, isExecutable(place) else {
            ErrorText.reportMisuse("the event hook of a background session cannot be run: there is no program \(name)")
            return hook
        }
        return [place] + hook.dropFirst()
    }

    /// Starts a helper for a session's directory and waits until it listens, no longer than `patience`.
    static func start(_ path: String, directory: String, patience: Duration) -> HelperProcess.Start {
        HelperProcess.start(path, arguments: ["--start", directory], patience: patience)
    }

    /// Starts a helper for a session's directory and waits for nothing.
    static func launch(_ path: String, directory: String) {
        HelperProcess.launch(path, arguments: ["--start", directory])
    }

    /// Says once in this process why transfers do not outlive it.
    static func reportMissing(_ reason: String) {
        guard wasReported.exchange(true, ordering: .relaxed) == false else { return }
        ErrorText.reportMisuse(
            "the transfers of background sessions are carried out in this process and stop with it: \(reason)")
    }

    private static let wasReported = Atomic<Bool>(false)

    private static var ownPath: String? { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") }

    private static func isExecutable(_ path: String) -> Bool {
        var about = stat()
        return stat(path, &about) == 0 && about.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }
}
