// A helper that hangs: it has the lock and listens, so that the system takes connections for it, and answers nothing. A
// signal that asks it to go does nothing either.
//
//     --serve DIRECTORY    does that in a session's directory, as the words of the real helper are

import Foundation

/// Hangs as a helper.
enum HangingHelper {
    static func run(_ words: [String]) -> Never {
        // It never outlives a test that has failed, or was killed itself, for long.
        alarm(120)
        signal(SIGTERM, SIG_IGN)
        // Below the directory, since the whole path may be too long for an address.
        guard words.count == 1, chdir(words[0]) == 0 else { exit(64) }
        let lock = open("lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0, listens() else { exit(71) }
        while true { pause() }
    }

    private static func listens() -> Bool {
        let made = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "socket-made".utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(made, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        // Order: who finds the socket can connect.
        return bound == 0 && listen(made, 16) == 0 && rename("socket-made", "socket") == 0
    }
}
