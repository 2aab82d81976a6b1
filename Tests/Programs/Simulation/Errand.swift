// What a task is to ask for and what the server does with it: an errand, and the books that both sides keep of it.

import Foundation
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

/// One task of a simulated program, from what it is made of to what came of it.
//
// `@unchecked Sendable`: one thread plays, and there is no other in the process.
final class Errand: @unchecked Sendable {
    /// What the task is.
    enum Form: CaseIterable {
        case data, handler, download, downloadHandler, upload
    }

    /// What the server does.
    enum Part {
        /// Answers, in pieces with pauses between them.
        case answer(pause: Duration?)
        /// Sends the client on, so many times.
        case redirect(Int)
        /// Wants a password.
        case guarded
        /// Breaks off the first so many times.
        case breaksOff(Int, ServerResponse.BreakOff.Place)
        /// Does not look at it the first so many times (HTTP/2).
        case refuse(Int)
        /// Says nothing.
        case silence
        /// Answers something that may be stored.
        case stored(maximumAge: Int)
    }

    let number: Int
    let form: Form
    let part: Part
    let host: String
    let isSafe: Bool
    let length: Int
    let isChunked: Bool
    let closes: Bool
    let informs: Bool
    /// Whether its request bears a secret that is the host's alone.
    let hasSecret: Bool
    /// What is sent, in uploads.
    let content: [UInt8]

    // The program's side.
    /// Whether it is an async call of a session with interceptors.
    var isAwaited = false
    /// The call, where it is one.
    var call: Task<Void, Never>?
    var task: URLSessionTask?
    var begun: Duration?
    /// How often in a row it was seen to wait although nothing hinders it.
    var looks = 0
    /// Why it may end without an answer, as far as the program is the cause.
    var isCancelled = false
    /// When the program has cancelled it.
    var cancelledAt: Duration?
    var wasSuspended = false
    /// Since when it stands still.
    var suspendedSince: Duration?
    var responses: [HTTPURLResponse] = []
    var data = Data()
    var error: (any Error)?
    var ends = 0
    /// Questions to the delegate that wait for their answer, and when it heard something last.
    var openQuestions = 0
    var endedUnanswered = false
    var heardAt: Duration? { didSet { quietSince = oldValue } }
    /// When it had heard something before that.
    private(set) var quietSince: Duration?
    var endedAt: Duration?
    /// Whether the delegate has said how the body is to be taken, where it was asked.
    var mayTakeBody = true
    /// Redirects that the delegate let pass.
    var followed = 0
    var isRefusedRedirect = false
    var hasFile = false

    // The server's side.
    /// How often each hop was asked for, and on which connection last.
    var asked: [Int: Int] = [:]
    var connections: [Int] = []
    /// When it was asked for last.
    var askedAt: Duration?
    /// Whether the server did something that may end the task with an error.
    var isSpoilt = false

    init(_ number: Int, _ chance: inout SeededRandom) {
        self.number = number
        var form = Form.allCases.randomElement(using: &chance) ?? .data
        var host = chance.chance(80) ? "one.test" : "two.test"
        switch Int.random(in: 0..<100, using: &chance) {
        case ..<38:
            part = .answer(pause: chance.chance(30) ? .milliseconds(Int.random(in: 1...4_000, using: &chance)) : nil)
        case ..<53: part = .redirect(Int.random(in: 1...3, using: &chance))
        case ..<63: part = .guarded
        case ..<75:
            let place: ServerResponse.BreakOff.Place =
                chance.chance(50) ? .beforeHead : .inBody(after: Int64.random(in: 0...200, using: &chance))
            part = .breaksOff(Int.random(in: 1...6, using: &chance), place)
        case ..<81: part = .refuse(Int.random(in: 1...7, using: &chance))
        case ..<86: part = .silence
        default:
            part = .stored(maximumAge: chance.chance(50) ? 0 : 1)
            // Mostly what a cache may answer, and at one host, so that it is asked for more than once.
            host = "one.test"
            if chance.chance(80) { form = chance.chance(50) ? .data : .handler }
        }
        self.form = form
        self.host = host
        length = chance.chance(8) ? 3_000_000 : [0, 1, 300, 20_000, 300_000].randomElement(using: &chance) ?? 0
        isChunked = chance.chance(30)
        closes = chance.chance(15)
        informs = chance.chance(10)
        hasSecret = chance.chance(30)
        isSafe = form != .upload && chance.chance(85)
        content = form == .upload ? Self.bytes([1, 5_000, 200_000].randomElement(using: &chance) ?? 1, number, 99) : []
    }

    /// Whether the server is busy when a program asks that would try again.
    var isBusy: Bool { number % 2 == 1 }

    /// Whether an interceptor answers it in the server's place.
    var isReplaced: Bool { isAwaited && number % 5 == 4 }

    /// Where a hop is asked for.
    func path(_ hop: Int) -> String {
        if case .stored = part { return "/stored/\(number % 2)/\(hop)" }
        return "/errand/\(number)/\(hop)"
    }

    /// What a hop's answer is marked with. What is stored is no errand's own.
    func mark(_ hop: Int) -> String { if case .stored = part { "stored \(number % 2)" } else { "\(number) \(hop)" } }

    /// Whether the server answers it without a pause.
    var isAnswered: Bool {
        switch part {
        case .silence, .answer(_?): false
        case .answer, .redirect, .guarded, .breaksOff, .refuse, .stored: true
        }
    }

    /// What a hop's answer has as its body.
    func body(_ hop: Int) -> [UInt8] {
        if case .stored = part { return Self.bytes(300, 1_000 + number % 2, hop) }
        return Self.bytes(length, number, hop)
    }

    /// Bytes that are those of no other errand.
    static func bytes(_ count: Int, _ number: Int, _ hop: Int) -> [UInt8] {
        var random = SeededRandom(seed: UInt64(number * 100 + hop))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes += $0 } }
        return Array(bytes.prefix(count))
    }

    /// The password that the server wants.
    static let authorization = "Basic " + Data("mole:burrow".utf8).base64EncodedString()
}
