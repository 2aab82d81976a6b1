// The file of logins: opened once, looked at, and read by the same descriptor, so that what was judged is what is read.

import Foundation

/// Reads files of logins.
enum NetrcFile {
    /// More than any honest file of passwords has.
    private static let largest = 1 << 20

    /// The logins of a file. The one at home is refused where others may read it, as ftp does; of a file that the user
    /// has named, and that a system may have put there, this is only said.
    static func read(_ place: NetrcPlace, warn: Bool) throws(FetchError) -> Netrc {
        let path = path(of: place)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT, place == .homeIfThere { return Netrc() }
        var facts = stat()
        guard descriptor >= 0, fstat(descriptor, &facts) == 0 else {
            throw FetchError(.cannotRead, "\(path) cannot be read: \(FetchError.system(errno))")
        }
        defer { close(descriptor) }
        try judge(facts, path, isNamed: place != .home && place != .homeIfThere, warn: warn)
        let text = String(decoding: try contents(descriptor, path), as: UTF8.self)
        do throws(Netrc.Mistake) {
            return try Netrc(text)
        } catch {
            throw FetchError(.cannotRead, "\(path) is not understood in line \(error.line)")
        }
    }

    private static func path(of place: NetrcPlace) -> String {
        switch place {
        case .file(let path): path
        case .home, .homeIfThere: (ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()) + "/.netrc"
        }
    }

    private static func judge(_ facts: stat, _ path: String, isNamed: Bool, warn: Bool) throws(FetchError) {
        let isOurs = facts.st_uid == geteuid() || facts.st_uid == 0
        guard !isOurs || facts.st_mode & 0o077 != 0 else { return }
        let reason = isOurs ? "others may read or change it" : "it is another user's"
        guard isNamed else {
            throw FetchError(.cannotRead, "\(path) holds passwords, and \(reason): chmod 600 is what it needs")
        }
        if warn { Terminal.complain("warning: \(path) holds passwords, and \(reason)") }
    }

    private static func contents(_ descriptor: Int32, _ path: String) throws(FetchError) -> Data {
        let data: Data
        do throws(InputFile.Unreadable) {
            data = try InputFile.contents(ofDescriptor: descriptor, most: largest + 1)
        } catch {
            throw FetchError(.cannotRead, "\(path) cannot be read: \(error.reason)")
        }
        guard data.count <= largest else {
            throw FetchError(.cannotRead, "\(path) is too large for a file of logins")
        }
        return data
    }
}
