// Servers and delegates that do anything at all, in any order: what must hold whatever they do.

import Testing
import URLLoadingPolicy
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Authentication random walk")
struct AuthenticationRandomWalkTests {
    private static let pieces = [
        "Negotiate", "Negotiate YWJj", "NTLM", "NTLM YWJj",
        "NTLM TlRMTVNTUAACAAAAAAAAADAAAAABAgAAASNFZ4mrze8AAAAAAAAAAA==", "Basic realm=a", "Basic realm=b", "Basic",
        "Digest realm=a, nonce=n1, qop=auth", "Digest realm=a, nonce=n2, qop=auth, stale=true",
        "Digest realm=b, nonce=n3", "Digest realm=a, nonce=n4, qop=auth-int, algorithm=SHA-256-sess, userhash=true",
        "Digest realm=\"a, nonce=n5", "Bearer realm=a", "\"", ", ,", "Digest realm=a, nonce=n6, domain=\"/a //b c: %\"",
    ]

    /// What is known to the walk about a task.
    private struct Walk {
        var machine: AuthenticationMachine
        var random: SeededRandom
        var rejected: Set<AuthenticationSpace> = []
        var answers: [AuthenticationSpace: Int] = [:]
        var sends = 0
        /// Whether the user's ticket may be shown.
        var isTicketAllowed = false

        mutating func head() -> ResponseHead {
            var head = ResponseHead(status: 401)
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                var text = AuthenticationRandomWalkTests.pieces.randomElement(using: &random) ?? ""
                if random.chance(10) { text = String(text.prefix(Int.random(in: 0...text.count, using: &random))) }
                head.fields.append(.wwwAuthenticate, text)
            }
            return head
        }

        mutating func answer() -> AuthenticationMachine.Answer {
            switch Int.random(in: 0..<10, using: &random) {
            case 0: .reject
            case 1: .none
            case 2: .unauthenticated
            case 3: .ticket
            case 4...5: .token("YWJj")
            default: .password(.init(user: random.chance(20) ? "a:b" : "D\\ü", password: "p"))
            }
        }
    }

    @Test(
        "B2.103: every walk ends, a rejected space stays rejected, and no ticket is sent that is not allowed",
        arguments: 0..<8)
    func walks(seed: Int) throws {
        let side = AuthenticationSide.server(try AuthenticationRig.origin())
        let freshness = AuthenticationFreshness.fixed()
        var spaces = RememberedSpaces()
        for number in 0..<Sanitizer.share(of: 100) {
            let isNamed = number % 2 == 0
            var walk = Walk(
                machine: AuthenticationMachine(side: side, usesTicketUnasked: isNamed),
                random: SeededRandom(seed: UInt64(seed * 1000 + number)))
            walk.isTicketAllowed = isNamed
            let body: AuthenticatedRequest.Body = walk.random.chance(20) ? .unrepeatable : .empty
            let request = AuthenticatedRequest(method: "GET", target: "/a/b", body: body)
            if walk.random.chance(30), let ahead = spaces.authorization(for: side, request: request) {
                walk.machine.sentAhead(ahead)
            }
            for _ in 0..<200 {
                if walk.random.chance(10) {
                    let head = ResponseHead.success(info: walk.random.chance(50) ? "nextnonce=m, rspauth=\"\"" : nil)
                    let acceptance = walk.machine.accepted(head, request: request, hashes: .openSSL)
                    if let acceptance { spaces.remember(acceptance.authorization, for: request) }
                    continue
                }
                let head = walk.head()
                var step = walk.machine.refused(head, request: request, freshness: freshness)
                while let asked = Self.asked(step) {
                    #expect(!walk.rejected.contains(asked), "seed \(seed), task \(number)")
                    let answer = walk.answer()
                    if case .reject = answer { walk.rejected.insert(asked) }
                    if case .ticket = answer, asked.method == .negotiate { walk.isTicketAllowed = true }
                    step = walk.machine.answered(answer, freshness: freshness)
                    if case .send = step { walk.answers[asked, default: 0] += 1 }
                }
                guard case .send(let authorization) = step else { continue }
                walk.sends += 1
                let isTicket = authorization.space.method == .negotiate
                #expect(!isTicket || walk.isTicketAllowed, "seed \(seed), task \(number)")
                let field = try #require(authorization.field(for: request, hashes: .openSSL))
                #expect(field.hasPrefix(authorization.space.method.scheme + " "))
                #expect(field.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
            }
            #expect(walk.sends <= AuthenticationMachine.maximumRounds, "seed \(seed), task \(number)")
            #expect(walk.answers.values.allSatisfy { $0 <= AuthenticationMachine.maximumAnswers })
        }
    }

    private static func asked(_ step: AuthenticationMachine.Step) -> AuthenticationSpace? {
        switch step {
        case .ask(let space, _), .negotiate(let space, _): space
        case .send, .deliver: nil
        }
    }
}
