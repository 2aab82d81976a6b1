// The server of a simulated world: it does with each request what its errand says, and keeps its books.

import Foundation
import URLLoadingLoopbackServer
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

/// An answer that may be stored, and for how many seconds.
struct Storing {
    let resource: Int
    let moment: Duration
    let age: Int
}

/// Plays the server's parts.
//
// `@unchecked Sendable`: one thread plays, and there is no other in the process.
final class Stage: @unchecked Sendable {
    private unowned let world: World
    var errands: [Errand] = []
    /// What was answered that may be stored.
    private(set) var storings: [Storing] = []
    /// How often a program that tries again does so.
    static let mostRetries = 2
    /// The cookies that hosts have set.
    private var crumbs: [String: Set<String>] = [:]

    init(_ world: World) { self.world = world }

    /// Answers a request.
    func answer(_ request: ServerRequest) -> ServerResponse {
        guard let number = request.fields.first("X-Number").flatMap({ Int($0) }), errands.indices.contains(number),
            let hop = request.path.split(separator: "/").last.flatMap({ Int($0) })
        else {
            world.complain("no errand asked for \(request.target)")
            return .status(404)
        }
        let errand = errands[number]
        errand.asked[hop, default: 0] += 1
        errand.connections.append(request.connection)
        errand.askedAt = world.now
        if let since = errand.suspendedSince, world.now - since > .seconds(2) {
            world.complain("errand \(errand.number) is asked for while it stands still")
        }
        checkCookie(request, errand)
        let times = errand.asked[hop] ?? 1
        world.tell(
            "connection \(request.connection): \(request.method) \(request.target) over \(request.protocolName), time \(times)"
        )
        check(request, errand, hop, times)
        var answer = part(errand, hop, times, request)
        if answer.closesConnection, request.stream != nil { world.network.noteDraining(request.connection) }
        if errand.number % 3 == 0, let host = request.fields.first(.host) {
            crumbs[host, default: []].insert("crumb=\(errand.number)")
            answer = answer.adding("Set-Cookie", "crumb=\(errand.number); Path=/")
        }
        return answer
    }

    /// What must hold whenever a request arrives.
    private func check(_ request: ServerRequest, _ errand: Errand, _ hop: Int, _ times: Int) {
        // What was on its way then arrives all the same.
        if let ended = errand.endedAt, world.now - ended > .seconds(10) {
            world.complain("errand \(errand.number) is asked for after its end")
        }
        if hop > errand.followed { world.complain("errand \(errand.number): a redirect was followed unasked") }
        if errand.form == .upload, hop == 0, firstDifference(request.body, errand.content) != nil {
            world.complain("errand \(errand.number): its body came as \(request.body.count) other bytes")
        }
        if request.fields.first("X-Chain") != (errand.isAwaited ? Chain.mark : nil) {
            world.complain("errand \(errand.number): interceptors were passed over, or called unasked")
        }
        if errand.isReplaced { world.complain("errand \(errand.number) is asked for, and an interceptor has answered") }
        let isGuarded = if case .guarded = errand.part { true } else { false }
        if request.fields.first(.authorization) != nil, !isGuarded {
            world.complain("errand \(errand.number): a password went to who did not ask")
        }
        if request.fields.contains("X-Api-Key"), request.fields.first(.host) != errand.host {
            world.complain("errand \(errand.number): a secret of one host went to another")
        }
        // The connection may have been lost before each time but the last, and what must not be done twice is not; what
        // is guarded is asked for again.
        var allowed = 1
        if request.method != "POST" {
            allowed += errand.connections.dropLast().count(where: { world.network.isLost($0) })
        }
        switch errand.part {
        case .guarded: allowed += 4
        case .breaksOff(let count, .beforeHead): if request.method != "POST" { allowed += count }
        // Sent again five times at most in each attempt (H7.3).
        case .refuse(let count): allowed += min(count, world.triesAgain ? 5 * (1 + Self.mostRetries) : 5)
        case .stored: allowed += 1
        // An interceptor asks once more.
        case .answer where errand.isAwaited: allowed += world.triesAgain ? 1 + Self.mostRetries : 1
        case .answer, .redirect, .breaksOff, .silence: break
        }
        // B6.33: what must not be done twice is not.
        if world.triesAgain, request.method != "POST" { allowed += Self.mostRetries * (isGuarded ? 2 : 1) }
        if times > allowed {
            world.complain("errand \(errand.number), hop \(hop): asked for \(times) times, \(allowed) allowed")
        }
        let most = world.triesAgain ? 16 : 8
        if times > most { world.complain("errand \(errand.number), hop \(hop): asked for \(times) times") }
    }

    /// Cookies go to the host that has set them, and to no other.
    private func checkCookie(_ request: ServerRequest, _ errand: Errand) {
        guard let host = request.fields.first(.host) else { return world.complain("a request names no host") }
        guard let cookie = request.fields.first(.cookie) else { return }
        if !(crumbs[host]?.contains(cookie) ?? false) {
            world.complain("errand \(errand.number): \(host) gets \(cookie), which it has not set")
        }
    }

    private func part(_ errand: Errand, _ hop: Int, _ times: Int, _ request: ServerRequest) -> ServerResponse {
        switch errand.part {
        case .redirect(let count) where hop < count:
            let target = "http://\(hop % 2 == 0 ? "one" : "two").test\(errand.path(hop + 1))"
            return dressed(.text("elsewhere", status: hop % 2 == 0 ? 302 : 307), errand, hop).adding("Location", target)
        case .guarded where request.fields.first(.authorization) != Errand.authorization:
            return dressed(.text("who are you?", status: 401), errand, hop)
                .adding("WWW-Authenticate", "Basic realm=\"hole \(errand.number)\"")
        case .breaksOff(let count, let place) where times <= count:
            errand.isSpoilt = true
            return whole(errand, hop).breakingOff(place)
        case .refuse(let count) where times <= count && request.stream != nil:
            // What a server that goes away has not looked at counts as refused, too, and is not seen here.
            errand.isSpoilt = true
            return .reset(.refusedStream)
        case .silence:
            errand.isSpoilt = true
            return .script([.delay(.seconds(1_000))])
        case .stored(let age):
            if request.method == "GET" {
                storings.append(Storing(resource: errand.number % 2, moment: world.now, age: age))
            }
            let tag = "\"\(errand.number % 2)\""
            if request.fields.first(.ifNoneMatch) == tag {
                return ServerResponse(status: 304, body: .none).adding("ETag", tag)
                    .adding("X-Errand", errand.mark(hop))
            }
            return whole(errand, hop).adding("ETag", tag).adding("Cache-Control", "max-age=\(age)")
        case .answer where (world.triesAgain || errand.isAwaited) && errand.isBusy && times == 1:
            return dressed(.text("busy", status: 503), errand, hop).adding("Retry-After", "\(errand.number % 3)")
        case .answer, .redirect, .guarded, .breaksOff, .refuse: return whole(errand, hop)
        }
    }

    private func whole(_ errand: Errand, _ hop: Int) -> ServerResponse {
        let body = errand.body(hop)
        var answer = ServerResponse(body: .bytes(body))
        if case .answer(let pause?) = errand.part, !body.isEmpty {
            let half = body.count / 2
            answer = .slow([
                .init(Array(body[..<half]), after: pause), .init(Array(body[half...]), after: pause),
            ])
            // By itself the length would not be known.
            if !errand.isChunked { answer.fields.append("Content-Type", "application/octet-stream") }
        }
        return dressed(answer, errand, hop)
    }

    private func dressed(_ answer: ServerResponse, _ errand: Errand, _ hop: Int) -> ServerResponse {
        var answer = answer.adding("X-Errand", errand.mark(hop))
        if errand.isChunked { answer.framing = .chunked }
        if errand.informs { answer.informational = [ResponseHead(status: 103)] }
        if errand.closes { answer = answer.closing() }
        return answer
    }
}
