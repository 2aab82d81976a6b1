// The folder in which the lives of a downloading process leave what the next one, and the process that watches them,
// have to know: how much has been fetched, by what to go on, what a life has cost. Everything is written by one call of
// the system, which a death does not tear.

import Foundation
import URLLoadingTestSupport

/// How much has been fetched into the file, and up to where.
struct Account: Sendable {
    /// All bytes that have ever been written to the file.
    var fetched: Int64 = 0
    /// How far they are counted.
    var place: Int64 = 0

    /// The file is so long by now.
    mutating func reach(_ length: Int64) {
        fetched += max(0, length - place)
        place = length
    }
}

/// What the lives leave.
struct LifeFolder: Sendable {
    let path: String

    /// Where the directory for temporary files is.
    var temporary: String { path + "/tmp" }
    /// Where the file is when it is whole.
    var whole: String { path + "/whole" }
    /// Where the data are by which a life goes on.
    var saved: String { path + "/saved" }

    /// Whether a life can go on.
    var isSaved: Bool { has("saved") }

    /// What has been counted.
    var account: Account {
        let numbers = text("account").split(separator: " ").compactMap { Int64($0) }
        return numbers.count == 2 ? Account(fetched: numbers[0], place: numbers[1]) : Account()
    }

    /// How long the file is that a life has left; nil where there is none.
    var lengthOfPart: Int64? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: temporary)) ?? []
        let lengths = names.compactMap { name in
            (try? FileManager.default.attributesOfItem(atPath: temporary + "/" + name))?[.size] as? NSNumber
        }
        return lengths.map(\.int64Value).max()
    }

    func note(_ account: Account) { note("\(Self.wide(account.fetched)) \(Self.wide(account.place))", in: "account") }

    /// The highest memory of all lives until now, and of it what belongs to the process alone; in KiB.
    func noteMemory() {
        let known = memory
        let now = ProcessMemory()
        note("\(max(known.peak, now.peak)) \(max(known.anonymous, now.anonymous))", in: "memory")
    }

    var memory: ProcessMemory {
        let numbers = text("memory").split(separator: " ").compactMap { Int($0) }
        return numbers.count == 2
            ? ProcessMemory(peak: numbers[0], anonymous: numbers[1]) : ProcessMemory(peak: 0, anonymous: 0)
    }

    /// This process is the life that is under way.
    func noteLife() { note(Self.wide(Int64(getpid())), in: "life") }

    /// The life that has begun last.
    var life: pid_t? { pid_t(text("life")) }

    /// So many bytes have been received by a life that dies now; what of them is not in the file is lost.
    func noteUnwritten(_ received: Int64) {
        let lost = received - (lengthOfPart ?? 0)
        note(Self.wide(max(lost, mostUnwritten)), in: "unwritten")
    }

    /// The most that a life had received and not written when it died.
    var mostUnwritten: Int64 { Int64(text("unwritten")) ?? 0 }

    func has(_ name: String) -> Bool { access(path + "/" + name, F_OK) == 0 }

    func text(_ name: String) -> String { (try? String(contentsOfFile: path + "/" + name, encoding: .utf8)) ?? "" }

    /// By one call of the system: nothing that is written this way grows shorter.
    func note(_ text: String, in name: String) {
        let file = open(path + "/" + name, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
        close(file)
    }

    /// Always as many digits as the longest has.
    private static func wide(_ number: Int64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 19 - digits.utf8.count)) + digits
    }
}
