// Values of background transfers with something in every part.

import URLLoading
import URLLoadingPolicy

enum TransferSamples {
    static let instant = TransferInstant(wall: 1_700_000_000_000, uptime: 5_000, boot: 77)

    static var request: TransferRequest {
        var request = TransferRequest(
            method: "POST", url: "https://h.example/ü?a=b",
            fields: [TransferField("Authorization", "Basic c2VjcmV0"), TransferField("X-Empty", "")],
            body: [0, 1, 255],
            timeout: 1500)
        request.cachePolicy = 4
        request.flags = 0x81
        request.unixSocketPath = "/run/x"
        request.mainDocumentURL = "https://h.example/"
        return request
    }

    static var head: TransferHead {
        TransferHead(
            url: "https://h.example/a", status: 206,
            fields: [TransferField("Set-Cookie", "a=b"), TransferField("Set-Cookie", "c=d")], expectedLength: -1)
    }

    /// A response in a server's own words, whose body has ended.
    static var wholeHead: TransferHead {
        var head = head
        head.version = 10
        head.reason = "Rather  fine"
        head.trailers = [TransferField("X-Sum", "1"), TransferField("X-Sum", "2")]
        return head
    }

    static var challenge: TransferChallenge {
        var space = TransferSpace(
            host: "h.example", port: 443, scheme: "https", realm: "r", method: "NSURLAuthenticationMethodHTTPBasic",
            isProxy: false, proxyType: nil)
        space.distinguishedNames = [[1, 2], []]
        return TransferChallenge(number: 9, space: space, failures: 2, head: head, certificates: [[3], [4, 5]])
    }

    /// A question that may be answered for its task alone.
    static var challengeOfTask: TransferChallenge {
        var challenge = challenge
        (challenge.certificates, challenge.takesOnce) = ([], true)
        return challenge
    }

    /// A question of a server behind a socket.
    static var challengeBehindSocket: TransferChallenge {
        var challenge = challengeOfTask
        challenge.space.distinguishedNames = []
        challenge.isBehindSocket = true
        return challenge
    }

    /// A question about a server that has said this about its certificate.
    static func aboutServer(_ stapling: TransferStapling) -> TransferChallenge {
        let space = TransferSpace(
            host: "h.example", port: 443, scheme: "https", realm: nil, method: NSURLAuthenticationMethodServerTrust,
            isProxy: false, proxyType: nil)
        var challenge = TransferChallenge(
            number: 9, space: space, failures: 0, head: nil, certificates: [[3], [4, 5]])
        challenge.stapling = stapling
        return challenge
    }

    static var failure: TransferFailure {
        var failure = TransferFailure(code: -1005, text: "lost", url: "http://h.example/")
        failure.cancellationReason = 2
        failure.networkReason = 1
        failure.resumeData = [7, 8]
        failure.causes = [.init(domain: "NSPOSIXErrorDomain", code: 104, text: "reset")]
        return failure
    }

    static var order: TransferOrder {
        var order = TransferOrder(task: 12, kind: .upload, request: request, source: "/tmp/file")
        order.current.url = "https://h.example/other"
        order.label = "label"
        order.earliestBegin = 1_700_000_100_000
        order.expectedBySender = 10
        order.expectedByReceiver = 20
        order.priority = 0.75
        order.resumption = [1, 2, 3]
        (order.awaitsDelegate, order.isSuspended) = (true, true)
        return order
    }

    static var measures: TransferMeasures {
        var exchange = TransferExchange(request)
        exchange.head = head
        exchange.isTold = true
        exchange.times.fetchStart = 1_700_000_000_000_000
        exchange.times.responseEnd = 1_700_000_000_000_001
        exchange.isReused = true
        exchange.usesProxy = true
        exchange.spoken = .http2
        exchange.source = 1
        exchange.local = .init(host: "::1", port: 1)
        exchange.remote = .init(host: "127.0.0.1", port: 65_535)
        exchange.tls = .init(version: 0x0304, cipher: 0x1301)
        exchange.counts.requestHead = 1
        exchange.counts.requestBody = 2
        exchange.counts.responseHead = 3
        exchange.counts.responseBody = 4
        exchange.counts.responseBodyDecoded = 5
        var measures = TransferMeasures()
        measures.add([exchange, TransferExchange(request)], redirects: 2)
        return measures
    }

    /// A record in a state.
    static func record(_ state: TransferState = .asking(challenge)) -> TransferRecord {
        var record = TransferRecord(order, allowed: 60_000, isDiscretionary: true, now: instant)
        (record.isSuspended, record.awaitsDelegate) = (state == .waiting, state != .waiting)
        record.state = state
        record.counts.received = 100
        record.head = head
        record.failures = 3
        record.add(.downloaded(path: "/state/files/download-12"))
        record.add(.answered(path: "/state/files/answer-12"))
        record.measures = measures
        record.end(failure)
        record.end(nil)
        record.measures = measures
        return record
    }

    static var settings: TransferSettings {
        var settings = TransferSettings(identifier: "com.example.ü")
        settings.additionalFields = [TransferField("X-A", "b")]
        settings.hook = ["/bin/hook", "a b"]
        settings.proxies = [
            .init(key: "HTTPPort", value: .number(80)), .init(key: "HTTPProxy", value: .text("p")),
            .init(key: "ExceptionsList", value: .list(["a", "b"])),
        ]
        settings.proxyEnvironment = [TransferField("http_proxy", "http://p:1")]
        settings.hostOverrides = [TransferField("h", "127.0.0.1")]
        settings.unixSocketPath = "/run/s"
        settings.localAddress = "127.0.0.2"
        settings.networkInterface = "lo"
        settings.tlsKeyLogFile = "/tmp/keys"
        settings.trust = .perHost(
            [
                .init(pattern: "*.a", choice: .anyOf([.system, .anchors([[1]], alsoSystem: true)])),
                .init(pattern: "b", choice: .allOf([.pinnedKeys(["x"], .system), .knownHosts("/k")])),
                .init(pattern: "c", choice: .pinnedCertificates([[2], [3]], .anyCertificate)),
            ], .selfSigned([4], host: "s", .system))
        return settings
    }

    static var commands: [TransferCommand] {
        [
            .hello(TransferHello(settings: settings, judgesServers: true, answersChallenges: false)), .start(order),
            .cancel(task: 1, wantsResumeData: true), .suspend(task: 2), .resume(task: UInt64.max), .label(task: 3, nil),
            .label(task: 3, "x"), .priority(task: 4, 0.25),
            .answer(
                TransferAnswer(
                    task: 5, challenge: 6, disposition: .useCredential,
                    credential: .password(user: "u", password: "p"))),
            .answer(
                TransferAnswer(
                    task: 5, challenge: 6, disposition: .useCredential,
                    credential: .passwordOnce(user: "u", password: "p"))),
            .answer(TransferAnswer(task: 5, challenge: 6, disposition: .useCredential, credential: .trust)),
            .answer(
                TransferAnswer(
                    task: 5, challenge: 6, disposition: .useCredential,
                    credential: .identity(certificates: "c", key: "k"))),
            .answer(TransferAnswer(task: 5, challenge: 6, disposition: .reject)), .delivered(task: 7, number: 8),
            .invalidate(cancelling: true), .list,
        ]
    }

    static var events: [TransferEvent] {
        [
            .met(record().summary), .met(record(.over).summary), .welcome, .refused(.inUse), .refused(.version(2)),
            .refused(.otherSession), .refused(.ending), .refused(.unintelligible("why")), .tasks([]),
            .accepted(task: 1),
            .progress(task: 2, record().counts), .redirected(task: 3, request), .responded(task: 4, head),
            .responded(task: 4, wholeHead),
            .resumedAt(task: 5, offset: 6, total: -1), .resumeData(task: 7, nil), .resumeData(task: 7, [8]),
            .challenged(task: 9, challenge), .challenged(task: 9, challengeOfTask),
            .challenged(task: 9, challengeBehindSocket),
            .challenged(task: 9, aboutServer(.unknown)),
            .challenged(task: 9, aboutServer(.absent)), .challenged(task: 9, aboutServer(.response([6, 7]))),
            .withdrawn(task: 10, challenge: 11),
            .news(task: 12, TransferNews(number: 13, content: .measured(measures))),
            .news(task: 12, TransferNews(number: 13, content: .completed(failure))), .allDelivered, .invalidated,
        ]
    }
}
