// Background sessions whose transfers this process carries out: what delegates hear, in order. What is met again by a
// later run is in `BackgroundProcessTests` (behaviour 10.1, 10.2).

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingSystem
import URLLoadingTestSupport

@testable import URLLoading

@Suite("Background sessions: transfers", .timeLimit(.minutes(3)))
struct BackgroundTransferTests {
    private let folder = BackgroundFolder()

    @Test(
        "B10.3, B10.19, B10.34: the delegate hears of a download as usual, of no finished events, and no file is left")
    func download() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            try await withBackgroundSession(folder.configuration()) { session, scribe in
                let task = session.downloadTask(with: try server.at("/"))
                task.resume()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["file 1 hello", "end 1 nil"])
                #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
                #expect(task.countOfBytesReceived == 5)
                #expect(task.state == .completed)
                try await until { folder.journals.isEmpty }
            }
        }
        #expect(folder.names.isEmpty)
    }

    @Test(
        "B10.5, B1.67, B10.27: the delegate hears the answer's body of an upload, and of a data task the response too")
    func uploadAndData() async throws {
        try await withServer(router: { .text("got \($0.body.count)") }) { server in
            let file = folder.url.appendingPathComponent("body")
            try Data("abc".utf8).write(to: file)
            try await withBackgroundSession(folder.configuration()) { session, scribe in
                var request = URLRequest(url: try server.at("/"))
                request.httpMethod = "PUT"
                let upload = session.uploadTask(with: request, fromFile: file)
                upload.resume()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["data 1 got 3", "end 1 nil"])
                #expect(upload.countOfBytesSent == 3)
                #expect((upload.response as? HTTPURLResponse)?.statusCode == 200)
                session.dataTask(with: try server.at("/")).resume()
                await scribe.ended.wait(times: 2)
                #expect(scribe.transcript.calls.dropFirst(2) == ["response 2", "data 2 got 0", "end 2 nil"])
            }
        }
    }

    @Test("B10.8, B10.27: redirects are followed; the delegate is asked neither about them nor about the cache")
    func redirects() async throws {
        try await withServer(router: { request in
            request.path == "/" ? ServerResponse.status(302).adding("Location", "/there") : .text("there")
        }) { server in
            try await withBackgroundSession(folder.configuration()) { session, scribe in
                let task = session.downloadTask(with: try server.at("/"))
                task.resume()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["file 1 there", "end 1 nil"])
                #expect(task.currentRequest?.url?.path == "/there")
                #expect(task.originalRequest?.url?.path == "/")
            }
        }
    }

    @Test(
        "B12.1, B12.3 to B12.5: metrics tell of each exchange, also of another process's, but hold no credential",
        arguments: [false, true])
    func metrics(helper: Bool) async throws {
        try await withServer(router: { request in
            request.path == "/" ? ServerResponse.status(302).adding("Location", "/there") : .text("hello")
        }) { server in
            try await withBackgroundSession(folder.configuration(helper: helper)) { session, scribe in
                let before = Date()
                var request = URLRequest(url: try server.at("/"))
                request.setValue("Basic dTpw", forHTTPHeaderField: "Authorization")
                request.setValue("kept", forHTTPHeaderField: "X-Kept")
                session.downloadTask(with: request).resume()
                await scribe.ended.wait()
                #expect(scribe.metrics.value.count == 1)
                let metrics = try #require(scribe.metrics.value.first)
                #expect(metrics.redirectCount == 1)
                // A second of leeway: dates are reckoned from the steady clock.
                let (earliest, latest) = (before.addingTimeInterval(-1), Date().addingTimeInterval(1))
                #expect(metrics.taskInterval.start >= earliest && metrics.taskInterval.end <= latest)
                let exchanges = metrics.transactionMetrics
                try #require(exchanges.count == 2)
                #expect(exchanges.map { $0.request.url?.path } == ["/", "/there"])
                #expect(exchanges.compactMap { ($0.response as? HTTPURLResponse)?.statusCode } == [302, 200])
                #expect(exchanges.map { $0.request.value(forHTTPHeaderField: "X-Kept") } == ["kept", "kept"])
                #expect(exchanges.allSatisfy { $0.request.value(forHTTPHeaderField: "Authorization") == nil })
                #expect(exchanges.map(\.isReusedConnection) == [false, true])
                for one in exchanges {
                    #expect(one.networkProtocolName == ProtocolUnderTest.name && one.resourceFetchType == .networkLoad)
                    #expect(one.remoteAddress == "127.0.0.1" && one.remotePort == Int(server.port))
                    #expect(one.localAddress == "127.0.0.1" && one.localPort ?? 0 > 0)
                    #expect(!one.isProxyConnection && one.negotiatedTLSProtocolVersion == nil)
                    #expect(one.countOfRequestHeaderBytesSent > 0 && one.countOfResponseHeaderBytesReceived > 0)
                }
                let (first, last) = (exchanges[0], exchanges[1])
                #expect(last.countOfResponseBodyBytesReceived == 5 && last.countOfResponseBodyBytesAfterDecoding == 5)
                #expect(first.connectStartDate != nil && last.connectStartDate == nil)
                let dates = [
                    first.fetchStartDate, first.connectStartDate, first.connectEndDate, first.requestStartDate,
                    first.requestEndDate, first.responseStartDate, first.responseEndDate, last.fetchStartDate,
                    last.responseEndDate,
                ].compactMap(\.self)
                #expect(dates.count == 9 && dates == dates.sorted())
                #expect(dates[0] >= earliest && dates[8] <= latest)
            }
        }
    }

    @Test(
        "B16.46: a response has its trailers and its version, whichever process carries the transfer out",
        arguments: [false, true], [false, true])
    func versionAndTrailers(isHTTP2: Bool, helper: Bool) async throws {
        let root = try CertificateFactory.root()
        let identity = try root.issue(.server(hosts: ["127.0.0.1"])).identity
        var options = LoopbackServer.Options(tls: ServerTLS(identity: identity))
        options.http2 = isHTTP2 ? .required : .off
        let router: LoopbackServer.Router = { _ in
            ServerResponse.chunks([Array("hello".utf8)]).addingTrailer("X-Sum", "1").addingTrailer("X-Sum", "2")
        }
        try await withServer(options, router: router) { server in
            let configuration = folder.configuration(helper: helper)
            configuration.serverTrustEvaluation = .anchors(pem: root.certificate.pem)
            configuration.http2 = .offered
            try await withBackgroundSession(configuration) { session, scribe in
                let line = isHTTP2 ? "HTTP/2 200" : "HTTP/1.1 200 OK"
                let tasks: [URLSessionTask] = [
                    session.downloadTask(with: try server.at("/")), session.dataTask(with: try server.at("/")),
                ]
                for task in tasks { task.resume() }
                await scribe.ended.wait(times: 2)
                for task in tasks {
                    let response = try #require(task.response as? HTTPURLResponse)
                    #expect(response.statusLine == line)
                    #expect(response.value(forHTTPTrailerField: "x-sum") == "1, 2")
                    #expect(response.value(forHTTPHeaderField: "X-Sum") == nil)
                }
                let measured = scribe.metrics.value.compactMap {
                    $0.transactionMetrics.last?.response as? HTTPURLResponse
                }
                #expect(measured.map(\.statusLine) == [line, line])
            }
        }
    }

    @Test("B10.20: the delegate is asked for a password, whichever process carries the transfer out")
    func challenge() async throws {
        try await withServer(router: { request in
            request.fields.first("Authorization") == "Basic dTpw"
                ? .text("in") : ServerResponse.status(401).adding("WWW-Authenticate", "Basic realm=\"r\"")
        }) { server in
            let scribe = AnsweringScribe()
            let session = URLSession(configuration: folder.configuration(), delegate: scribe, delegateQueue: nil)
            session.downloadTask(with: try server.at("/")).resume()
            await scribe.ended.wait()
            #expect(scribe.transcript.calls == ["asked NSURLAuthenticationMethodHTTPBasic r 0", "file in", "end nil"])
            session.invalidateAndCancel()
            await scribe.transcript.invalidated.wait()
        }
    }

    @Test(
        "B2.67, B10.20: a password that the delegate gives for the session is its storage's default once it was accepted",
        arguments: [false, true])
    func acceptedPassword(helper: Bool) async throws {
        try await withServer(router: door("r", ["u": "p"]) { _ in .text("in") }) { server in
            for password in ["wrong", "p"] {
                let scribe = AnsweringScribe { challenge in
                    challenge.previousFailureCount == 0
                        ? (.useCredential, URLCredential("u", password, .forSession)) : (.rejectProtectionSpace, nil)
                }
                let storage = URLCredentialStorage()
                let configuration = folder.configuration(helper: helper)
                configuration.urlCredentialStorage = storage
                let session = URLSession(configuration: configuration, delegate: scribe, delegateQueue: nil)
                let url = try server.at("/")
                session.downloadTask(with: url).resume()
                await scribe.ended.wait()
                session.invalidateAndCancel()
                await scribe.transcript.invalidated.wait()
                let space = URLProtectionSpace(
                    host: "127.0.0.1", port: Int(server.port), protocol: "http", realm: "r",
                    authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
                if password == "p" { try await until { storage.defaultCredential(for: space) != nil } }
                #expect(storage.defaultCredential(for: space)?.password == (password == "p" ? "p" : nil))
            }
        }
    }

    @Test("B2.53: what the delegate gives for one answer goes with no other task", arguments: [false, true])
    func passwordForOneTask(helper: Bool) async throws {
        try await withServer(router: door("r", ["u": "p"]) { _ in .text("in") }) { server in
            let scribe = AnsweringScribe()
            let session = URLSession(
                configuration: folder.configuration(helper: helper), delegate: scribe, delegateQueue: nil)
            for count in 1...2 {
                session.downloadTask(with: try server.at("/")).resume()
                await scribe.ended.wait(times: count)
            }
            let asked = "asked NSURLAuthenticationMethodHTTPBasic r 0"
            #expect(scribe.transcript.calls == [asked, "file in", "end nil", asked, "file in", "end nil"])
            session.invalidateAndCancel()
            await scribe.transcript.invalidated.wait()
        }
    }

    @Test(
        "B3.35, B3.12: the trust in a challenge has what the server has stapled, whichever process carries the transfer out",
        arguments: [false, true])
    func stapling(helper: Bool) async throws {
        let root = try CertificateFactory.root("Stapling Root")
        let leaf = try root.issue(.server("127.0.0.1"))
        let asked = "asked NSURLAuthenticationMethodServerTrust  0"
        for (answer, calls) in [(OCSPAnswer.good, [asked, "file in", "end nil"]), (.revoked, [asked, "end -999"])] {
            var tls = ServerTLS(identity: leaf.identity)
            tls.stapledResponse = try root.ocspResponse(about: leaf.certificate, answer)
            try await withServer(.init(tls: tls), router: { _ in .text("in") }) { server in
                let configuration = folder.configuration("\(answer)", helper: helper)
                configuration.serverTrustEvaluation = .anchors(pem: root.certificate.pem)
                let scribe = AnsweringScribe { challenge in
                    guard let trust = challenge.protectionSpace.serverTrust, SecTrustEvaluateWithError(trust, nil)
                    else { return (.cancelAuthenticationChallenge, nil) }
                    return (.useCredential, URLCredential(trust: trust))
                }
                let session = URLSession(configuration: configuration, delegate: scribe, delegateQueue: nil)
                session.downloadTask(with: try server.at("/")).resume()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == calls)
                session.invalidateAndCancel()
                await scribe.transcript.invalidated.wait()
            }
        }
    }

    @Test("B10.20, B2.44: the program's credential storage is asked for a helper, and on no loop")
    func storage() async throws {
        try await withServer(router: door("r", ["u": "p"]) { _ in .text("in") }) { server in
            let storage = LoopWitness()
            storage.set(
                URLCredential("u", "p"),
                for: URLProtectionSpace(
                    host: "127.0.0.1", port: Int(server.port), protocol: "http", realm: "r",
                    authenticationMethod: NSURLAuthenticationMethodHTTPBasic))
            let configuration = folder.configuration(helper: true)
            configuration.urlCredentialStorage = storage
            try await withBackgroundSession(configuration) { session, scribe in
                storage.loop.value = session.core.background?.loop
                session.downloadTask(with: try server.at("/")).resume()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["file 1 in", "end 1 nil"])
                #expect(storage.answers.value == [false])
                storage.loop.value = nil
            }
        }
    }

    @Test(
        "B2.68, B10.20: a storage of the program's own class is asked on behalf of the task, and may answer late",
        arguments: [nil, "u"])
    func storageOfTheProgram(name: String?) async throws {
        try await withServer(router: door("r", ["u": "p"]) { _ in .text("in") }) { server in
            let storage = TaskStorage(URLCredential("u", "p"))
            let configuration = folder.configuration()
            configuration.urlCredentialStorage = storage
            try await withBackgroundSession(configuration) { session, scribe in
                let url = try server.at("/")
                session.downloadTask(with: try name.map { try url.naming($0) } ?? url).resume()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["file 1 in", "end 1 nil"])
                #expect(storage.calls.value == [name == nil ? "default of 1" : "all of 1"])
            }
        }
    }

    @Test("B2.68, B10.20: a question that is withdrawn while the storage is asked is put to no delegate")
    func storageAnswersTooLate() async throws {
        try await withServer(router: door("r", ["u": "p"]) { _ in .text("in") }) { server in
            let storage = HeldStorage()
            let configuration = folder.configuration()
            configuration.urlCredentialStorage = storage
            let scribe = AnsweringScribe()
            let session = URLSession(configuration: configuration, delegate: scribe, delegateQueue: nil)
            let task = session.downloadTask(with: try server.at("/"))
            task.resume()
            await storage.asked.wait()
            task.cancel()
            await scribe.ended.wait()
            let background = try #require(session.core.background)
            for handler in storage.handlers.value { handler(URLCredential("u", "p")) }
            storage.handlers.value = []
            // Order: what the storage has said is taken in where questions are.
            await withHandover { done in background.inquiries.run { done.resume() } }
            session.invalidateAndCancel()
            await scribe.transcript.invalidated.wait()
            #expect(scribe.transcript.calls == ["end -999"])
        }
    }

    @Test(
        "B2.108: a storage has no part in what a server behind a UNIX-domain socket asks, whichever process carries it out",
        arguments: [false, true], [false, true])
    func storageAndSocket(helper: Bool, isSessions: Bool) async throws {
        let socket = folder.path + "/server"
        try await withServer(.init(unixPath: socket), router: door("r", ["u": "p"]) { _ in .text("in") }) { _ in
            let storage = URLCredentialStorage()
            let space = URLProtectionSpace(
                host: "same.test", port: 80, protocol: "http", realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            storage.setDefaultCredential(URLCredential("admin", "secret"), for: space)
            let configuration = folder.configuration(helper: helper)
            configuration.urlCredentialStorage = storage
            if isSessions { configuration.unixSocketPath = socket }
            var request = URLRequest(url: try #require(URL(string: "http://same.test/")))
            if !isSessions { request.unixSocketPath = socket }
            let challenges = Visits()
            let scribe = AnsweringScribe { challenge in
                challenges.note(challenge.line)
                return (.useCredential, URLCredential("u", "p", .forSession))
            }
            let session = URLSession(configuration: configuration, delegate: scribe, delegateQueue: nil)
            let background = try #require(session.core.background)
            session.downloadTask(with: request).resume()
            await scribe.ended.wait()
            // Order: what is stored is stored where questions are taken in, before the end is told.
            await withHandover { done in background.inquiries.run { done.resume() } }
            session.invalidateAndCancel()
            await scribe.transcript.invalidated.wait()
            #expect(challenges.lines == ["HTTPBasic r 0 nobody 401"])
            #expect(scribe.transcript.calls.suffix(2) == ["file in", "end nil"])
            #expect(storage.credentials(for: space)?.keys.sorted() == ["admin"])
            #expect(storage.defaultCredential(for: space)?.password == "secret")
        }
    }

    @Test(
        "B2.44, B2.73, B2.74: whom the URL names comes before the default of the storage, behind a redirect, too",
        arguments: ["guest", "nobody", "u:p"], ["/there", "/hop"])
    func namedUser(_ name: String, path: String) async throws {
        let visits = Visits()
        let door = door("r", ["guest": "g", "admin": "secret", "u": "p"], visits)
        try await withServer(router: { request in
            guard request.path == "/hop" else { return door(request) }
            return .status(302).adding("Location", "http://\(request.fields.first("Host") ?? "")/there")
        }) { server in
            let storage = URLCredentialStorage()
            let space = URLProtectionSpace(
                host: "127.0.0.1", port: Int(server.port), protocol: "http", realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            storage.setDefaultCredential(URLCredential("admin", "secret"), for: space)
            storage.set(URLCredential("guest", "g"), for: space)
            let configuration = folder.configuration()
            configuration.urlCredentialStorage = storage
            let challenges = Visits()
            let scribe = AnsweringScribe { challenge in
                challenges.note(challenge.line)
                return (.performDefaultHandling, nil)
            }
            let session = URLSession(configuration: configuration, delegate: scribe, delegateQueue: nil)
            session.downloadTask(with: try server.at(path).naming(name)).resume()
            await scribe.ended.wait()
            session.invalidateAndCancel()
            await scribe.transcript.invalidated.wait()
            let (proposal, proof) =
                switch name {
                case "guest": ("guest/g", [" \(basic("guest", "g"))"])
                case "u:p": ("u/p", [" \(basic("u", "p"))"])
                default: ("nobody/-", [])
                }
            #expect(challenges.lines == ["HTTPBasic r 0 \(proposal) 401"])
            #expect(visits.lines == ([""] + proof).map { "GET /there\($0)" })
        }
    }

    @Test("B10.40, B1.41: cancelling ends a task with -999, invalidating all of them; nothing is left")
    func cancelling() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("hello", when: gate)]) }) { server in
            try await withBackgroundSession(folder.configuration()) { session, scribe in
                let task = session.downloadTask(with: try server.at("/"))
                task.resume()
                await server.wait { $0.requests == 1 }
                task.cancel()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["end 1 -999"])
                session.downloadTask(with: try server.at("/")).resume()
                session.downloadTask(with: try server.at("/")).resume()
                await server.wait { $0.requests == 3 }
                session.invalidateAndCancel()
                await scribe.transcript.invalidated.wait()
                #expect(Set(scribe.transcript.calls) == ["end 1 -999", "end 2 -999", "end 3 -999", "invalid"])
                #expect(scribe.transcript.calls.last == "invalid")
                #expect(folder.names.isEmpty)
            }
        }
    }

    @Test("B1.41: a data task that is cancelled while its delegate is asked about a large answer ends all the same")
    func cancelledWhileAsked() async throws {
        // More than is read ahead of the delegate.
        try await withServer(router: { _ in .generated(length: 3 << 20) }) { server in
            let silent = SilentAboutResponses()
            let session = URLSession(configuration: folder.configuration(), delegate: silent, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            task.resume()
            await silent.asked.wait()
            task.cancel()
            await silent.transcript.completed.wait()
            #expect(silent.transcript.calls == ["response", "end -999"])
            session.finishTasksAndInvalidate()
            await silent.transcript.invalidated.wait()
        }
    }

    @Test("B9.16, B10.11: cancelling by producing resume data gives data that go on in another session")
    func resumeData() async throws {
        let half = HalfServer()
        try await withServer(router: half.router) { server in
            try await withBackgroundSession(folder.configuration()) { session, scribe in
                let task = session.downloadTask(with: try server.at("/"))
                task.resume()
                await scribe.written.wait()
                let data = await task.cancelByProducingResumeData()
                await scribe.ended.wait()
                #expect(scribe.errors.value.first?.downloadTaskResumeData == data)
                let other = session.downloadTask(withResumeData: try #require(data))
                other.resume()
                await scribe.ended.wait(times: 2)
                #expect(scribe.transcript.calls == ["end 1 -999", "file 2 helloworld", "end 2 nil"])
                #expect(half.asked.value.last == "/ bytes=5- if \"v1\"")
            }
        }
    }

    @Test("B9.31, B10.11: resume data that were answered by an error are good for another session still")
    func resumeDataAfterError() async throws {
        let isInOrder = Guarded(false)
        let half = HalfServer { request in isInOrder.value ? HalfServer.rest(request) : .text("later", status: 503) }
        try await withServer(router: half.router) { server in
            let kept = Guarded<Data?>(nil)
            try await withBackgroundSession(folder.configuration()) { session, scribe in
                let task = session.downloadTask(with: try server.at("/"))
                task.resume()
                await scribe.written.wait()
                kept.value = await task.cancelByProducingResumeData()
                await scribe.ended.wait()
                session.downloadTask(withResumeData: try #require(kept.value)).resume()
                await scribe.ended.wait(times: 2)
                #expect(scribe.transcript.calls == ["end 1 -999", "file 2 later", "end 2 nil"])
            }
            isInOrder.value = true
            let session = URLSession(configuration: .ephemeral)
            let (location, _) = try await session.download(resumeFrom: try #require(kept.value))
            #expect(try String(contentsOf: location, encoding: .utf8) == "helloworld")
            #expect(half.asked.value.last == "/ bytes=5- if \"v1\"")
            try FileManager.default.removeItem(at: location)
            session.invalidateAndCancel()
        }
    }

    @Test("B10.30, B9.20: resume data of a download that cannot be begun are good for another session still")
    func resumeDataOfUnbegun() async throws {
        let half = HalfServer()
        try await withServer(router: half.router) { server in
            let kept = Guarded<Data?>(nil)
            let scribe = BackgroundScribe()
            let first = URLSession(configuration: .ephemeral, delegate: scribe, delegateQueue: nil)
            let task = first.downloadTask(with: try server.at("/"))
            task.resume()
            await scribe.written.wait()
            kept.value = await task.cancelByProducingResumeData()
            first.invalidateAndCancel()
            await scribe.transcript.invalidated.wait()
            let data = try #require(kept.value)
            try await withBackgroundSession(folder.configuration()) { session, scribe in
                let background = try #require(session.core.background)
                let directory = try #require(background.directory)
                // No journal can be put in its place.
                try FileManager.default.createDirectory(
                    atPath: directory.path + "/task-1", withIntermediateDirectories: false)
                session.downloadTask(withResumeData: data).resume()
                await scribe.ended.wait()
                #expect(scribe.errors.value.first?.downloadTaskResumeData == data)
                #expect(folder.names.allSatisfy { !$0.hasSuffix(".partial") }, "\(folder.names)")
            }
            let session = URLSession(configuration: .ephemeral)
            let (location, _) = try await session.download(resumeFrom: data)
            #expect(half.asked.value.last == "/ bytes=5- if \"v1\"")
            try FileManager.default.removeItem(at: location)
            session.invalidateAndCancel()
        }
    }

    @Test("B1.36, B10.33: a suspended task stands still until it is resumed")
    func suspending() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("hello"), .init("world", when: gate)]) }) { server in
            try await withBackgroundSession(folder.configuration()) { session, scribe in
                let task = session.downloadTask(with: try server.at("/"))
                task.resume()
                await scribe.written.wait()
                task.suspend()
                #expect(task.state == .suspended)
                gate.open()
                task.resume()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["file 1 helloworld", "end 1 nil"])
            }
        }
    }

    @Test("B6.22, B6.23, B10.26: a task begins no earlier than its date, and as the delegate says then")
    func delayed() async throws {
        try await withServer(router: { .text(String($0.path)) }) { server in
            let scribe = DelayingScribe(try server.at("/other"))
            let session = URLSession(configuration: folder.configuration(), delegate: scribe, delegateQueue: nil)
            let task = session.downloadTask(with: try server.at("/first"))
            let date = Date(timeIntervalSinceNow: 2)
            task.earliestBeginDate = date
            task.resume()
            await scribe.ended.wait()
            #expect(scribe.transcript.calls == ["asked /first", "file /other", "end nil"])
            #expect(scribe.asked.value ?? .distantPast >= date)
            session.invalidateAndCancel()
            await scribe.transcript.invalidated.wait()
        }
        #expect(folder.names.isEmpty)
    }

    @Test(
        "B10.31, B16.60: what a request says about the length of a coded body is kept, whichever process carries the transfer out",
        arguments: [false, true])
    func decodingLimits(helper: Bool) async throws {
        try await withServer(router: { _ in
            .bytes(Gzip.compress([UInt8](repeating: 0, count: 100_000), level: 9) ?? [])
                .adding("Content-Encoding", "gzip")
        }) { server in
            try await withBackgroundSession(folder.configuration(helper: helper)) { session, scribe in
                var request = URLRequest(url: try server.at("/"))
                request.maximumDecodedBytes = 1000
                session.downloadTask(with: request).resume()
                await scribe.ended.wait()
                #expect(scribe.errors.value.map(\.code) == [.dataLengthExceedsMaximum])
            }
        }
    }

    @Test(
        "B8.47: the cookies of every response are taken, of redirects and refusals too, whichever process carries the transfer out",
        arguments: [false, true])
    func cookies(helper: Bool) async throws {
        try await withServer(router: { request in
            let response: ServerResponse =
                switch request.path {
                case "/": .status(302).adding("Location", "/there")
                default: .text("there", status: 404)
                }
            let hop = request.path == "/"
            return response.adding("Set-Cookie", hop ? "hop=1" : "last=1")
                .adding("Set-Cookie", hop ? "both=old" : "both=new")
        }) { server in
            let configuration = folder.configuration(helper: helper)
            let storage = HTTPCookieStorage()
            configuration.httpCookieStorage = storage
            try await withBackgroundSession(configuration) { session, scribe in
                session.downloadTask(with: try server.at("/")).resume()
                await scribe.ended.wait()
                let cookies = storage.cookies?.map { "\($0.name)=\($0.value)" }
                #expect(cookies?.sorted() == ["both=new", "hop=1", "last=1"])
            }
        }
    }

    @Test(
        "B8.58: each request after a redirect has the cookies that fit there, whichever process carries the transfer out",
        arguments: [false, true])
    func cookiesOfRedirects(helper: Bool) async throws {
        let sent = Guarded<[String]>([])
        try await withServer(router: { request in
            sent.change { $0.append("\(request.path) \(request.fields.first("Cookie") ?? "")") }
            return switch request.path {
            case "/private": .status(302).adding("Location", "/public")
            case "/login":
                .status(302).adding("Location", "/in").adding("Set-Cookie", "sid=1; Path=/in")
                    .adding("Set-Cookie", "all=2")
            default: .text("there")
            }
        }) { server in
            let configuration = folder.configuration(helper: helper)
            let storage = HTTPCookieStorage()
            configuration.httpCookieStorage = storage
            let url = try server.at("/")
            func keep(_ field: String) {
                storage.setCookies(
                    HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": field], for: url), for: url,
                    mainDocumentURL: nil)
            }
            keep("all=1; Path=/")
            keep("other=1; Path=/")
            try await withBackgroundSession(configuration) { session, scribe in
                let task = session.downloadTask(with: try server.at("/login"))
                task.resume()
                await scribe.ended.wait()
                // As a task of another session, it does not show what the storage and redirects have added.
                #expect(task.currentRequest?.url?.path == "/in")
                #expect(task.currentRequest?.value(forHTTPHeaderField: "Cookie") == nil)
                #expect(
                    sent.value.map { Set($0.split(whereSeparator: { " ;".contains($0) })) } == [
                        ["/login", "all=1", "other=1"], ["/in", "all=2", "other=1", "sid=1"],
                    ])
                keep("priv=1; Path=/private")
                sent.value = []
                session.downloadTask(with: try server.at("/private")).resume()
                await scribe.ended.wait(times: 2)
                #expect(sent.value.last == "/public ")
            }
        }
    }

    @Test(
        "B8.39, B8.40, B8.58: cookies of a redirect that the session's policy refuses are not sent, nor those of another path",
        arguments: [HTTPCookie.AcceptPolicy.never, .onlyFromMainDocumentDomain])
    func refusedCookiesOfRedirects(policy: HTTPCookie.AcceptPolicy) async throws {
        let sent = Guarded<[String]>([])
        try await withServer(router: { request in
            sent.change { $0.append("\(request.path) \(request.fields.first("Cookie") ?? "")") }
            return request.path == "/private"
                ? ServerResponse.status(302).adding("Location", "/public").adding("Set-Cookie", "id=1; Path=/")
                : .text("there")
        }) { server in
            let configuration = folder.configuration()
            let storage = HTTPCookieStorage()
            configuration.httpCookieStorage = storage
            configuration.httpCookieAcceptPolicy = policy
            let url = try server.at("/private")
            storage.setCookies(
                HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": "priv=1; Path=/private"], for: url),
                for: url, mainDocumentURL: nil)
            try await withBackgroundSession(configuration) { session, scribe in
                var request = URLRequest(url: url)
                request.mainDocumentURL = URL(string: "http://site.test/")
                session.downloadTask(with: request).resume()
                await scribe.ended.wait()
                #expect(sent.value == ["/private priv=1", "/public "])
            }
        }
    }

    @Test(
        "B8.59: SameSite cookies of the storage, or of a program's own, do not go with requests for another site's document",
        arguments: [HTTPCookieStorage(), OwnStorage()])
    func sameSite(storage: HTTPCookieStorage) async throws {
        let sent = Guarded<[String]>([])
        try await withServer(router: { request in
            sent.change { $0.append("\(request.method) \(request.fields.first("Cookie") ?? "")") }
            return .text("there")
        }) { server in
            let configuration = folder.configuration()
            configuration.httpCookieStorage = storage
            let url = try server.at("/")
            for field in ["s=1; SameSite=Strict", "l=2; SameSite=Lax", "n=3"] {
                storage.setCookies(
                    HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": field], for: url), for: url,
                    mainDocumentURL: nil)
            }
            try await withBackgroundSession(configuration) { session, scribe in
                var request = URLRequest(url: url)
                session.downloadTask(with: request).resume()
                await scribe.ended.wait()
                request.mainDocumentURL = URL(string: "http://site.test/")
                session.downloadTask(with: request).resume()
                await scribe.ended.wait(times: 2)
                request.httpMethod = "POST"
                session.downloadTask(with: request).resume()
                await scribe.ended.wait(times: 3)
                #expect(sent.value == ["GET s=1; l=2; n=3", "GET n=3", "POST n=3"])
            }
        }
    }

    @Test(
        "B8.47, B8.58: what a redirect to another host sets, a program's own storage gets for the host that has set it")
    func ownStorageBehindRedirect() async throws {
        try await withServer(router: { request in
            guard request.path == "/a" else { return .text("there").adding("Set-Cookie", "fromB=2") }
            return .status(302).adding("Location", String(request.query ?? "")).adding("Set-Cookie", "fromA=1")
        }) { server in
            let storage = OwnStorage()
            let configuration = folder.configuration()
            configuration.httpCookieStorage = storage
            configuration.hostOverrides = ["a.test": "127.0.0.1", "b.test": "127.0.0.1"]
            try await withBackgroundSession(configuration) { session, scribe in
                let there = try server.at("/b", host: "b.test").absoluteString
                session.downloadTask(with: try server.at("/a?\(there)", host: "a.test")).resume()
                await scribe.ended.wait()
                let kept = (storage.cookies ?? []).map { "\($0.name) \($0.domain)" }
                #expect(kept.sorted() == ["fromA a.test", "fromB b.test"])
                #expect(storage.stored.value == ["fromB"])
            }
        }
    }

    @Test(
        "A program's own cookie storage is asked by the task, and may answer late; the task can be cancelled meanwhile")
    func askedStorage() async throws {
        let sent = Guarded<[String]>([])
        try await withServer(router: { request in
            sent.change { $0.append("\(request.path) \(request.fields.first("Cookie") ?? "")") }
            return .text("there")
        }) { server in
            let storage = SilentCookieStorage()
            let configuration = folder.configuration()
            configuration.httpCookieStorage = storage
            let url = try server.at("/")
            let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": "x=1"], for: url)
            try await withBackgroundSession(configuration) { session, scribe in
                let cancelled = session.downloadTask(with: try server.at("/cancelled"))
                cancelled.resume()
                await storage.asked.wait()
                cancelled.cancel()
                await scribe.ended.wait()
                #expect(scribe.errors.value.map(\.code) == [.cancelled])
                storage.answerAll(cookies)
                storage.letGo()
                session.downloadTask(with: url).resume()
                await storage.asked.wait(times: 2)
                storage.answerAll(cookies)
                storage.answerAll(nil)
                storage.letGo()
                await scribe.ended.wait(times: 2)
                #expect(sent.value == ["/ x=1"])
            }
        }
    }

    @Test(
        "B8.59, B8.58: of another site's cookies a redirect of the main document itself takes the Lax ones along, as elsewhere",
        arguments: [false, true])
    func sameSiteOfRedirects(isMainDocument: Bool) async throws {
        let sent = Guarded<[String]>([])
        try await withServer(router: { request in
            let port = request.fields.first("Host")?.split(separator: ":").last ?? ""
            switch request.path {
            case "/": return .status(302).adding("Location", "http://b.test:\(port)/hop")
            case "/hop":
                return .status(302).adding("Location", "/there").adding("Set-Cookie", "s=1; SameSite=Strict")
                    .adding("Set-Cookie", "l=1; SameSite=Lax").adding("Set-Cookie", "n=1")
            default:
                sent.change { $0.append(request.fields.first("Cookie") ?? "") }
                return .text("there")
            }
        }) { server in
            var request = URLRequest(url: try server.at("/", host: "a.test"))
            request.mainDocumentURL = isMainDocument ? request.url : try server.at("/other", host: "a.test")
            func settings(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
                configuration.hostOverrides = ["a.test": "127.0.0.1", "b.test": "127.0.0.1"]
                configuration.httpCookieStorage = HTTPCookieStorage()
                configuration.httpCookieAcceptPolicy = .always
                return configuration
            }
            let other = URLSession(configuration: settings(.ephemeral))
            _ = try await other.data(for: request)
            other.invalidateAndCancel()
            try await withBackgroundSession(settings(folder.configuration())) { session, scribe in
                session.downloadTask(with: request).resume()
                await scribe.ended.wait()
            }
            let cookies = isMainDocument ? "l=1; n=1" : "n=1"
            #expect(sent.value == [cookies, cookies])
        }
    }

    @Test("B1.15: finishing and invalidating waits for the tasks")
    func finishing() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let scribe = BackgroundScribe()
            let session = URLSession(configuration: folder.configuration(), delegate: scribe, delegateQueue: nil)
            session.downloadTask(with: try server.at("/")).resume()
            session.finishTasksAndInvalidate()
            await scribe.transcript.invalidated.wait()
            #expect(scribe.transcript.calls == ["file 1 hello", "end 1 nil", "invalid"])
        }
        #expect(folder.names.isEmpty)
    }
}

/// Notes whether it is asked on a certain loop.
private final class LoopWitness: URLCredentialStorage, @unchecked Sendable {
    // Safe to share: all that changes is guarded.
    let loop = Guarded<Loop?>(nil)
    let answers = Guarded<[Bool?]>([])

    override func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
        let isOnLoop = loop.value?.isCurrent
        answers.change { $0.append(isOnLoop) }
        return super.defaultCredential(for: space)
    }
}

/// Knows one credential, and tells it to tasks alone, from another thread.
private final class TaskStorage: URLCredentialStorage, @unchecked Sendable {
    // Safe to share: all that changes is guarded.
    let calls = Guarded<[String]>([])
    private let known: URLCredential

    init(_ known: URLCredential) {
        self.known = known
        super.init()
    }

    override func getCredentials(
        for protectionSpace: URLProtectionSpace, task: URLSessionTask,
        completionHandler: @escaping @Sendable ([String: URLCredential]?) -> Void
    ) {
        calls.change { $0.append("all of \(task.taskIdentifier)") }
        let known = known
        DispatchQueue.global().async { completionHandler(["u": known]) }
    }

    override func getDefaultCredential(
        for space: URLProtectionSpace, task: URLSessionTask,
        completionHandler: @escaping @Sendable (URLCredential?) -> Void
    ) {
        calls.change { $0.append("default of \(task.taskIdentifier)") }
        let known = known
        DispatchQueue.global().async { completionHandler(known) }
    }
}

/// Answers challenges, with a password unless it is told otherwise.
private final class AnsweringScribe: NSObject, URLSessionDownloadDelegate {
    let transcript = Transcript()
    let ended = Signal()
    private let habit: GuestHabit

    init(_ habit: @escaping GuestHabit = Guest.always(.useCredential, URLCredential("u", "p", .none))) {
        self.habit = habit
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let space = challenge.protectionSpace
        transcript.note("asked \(space.authenticationMethod) \(space.realm ?? "") \(challenge.previousFailureCount)")
        return habit(challenge)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        transcript.note("file \((try? String(contentsOf: location, encoding: .utf8)) ?? "")")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transcript.note("end \(Transcript.text(error))")
        ended.fire()
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        transcript.invalidated.fire()
    }
}

/// A storage of a class of the program's.
private final class OwnStorage: HTTPCookieStorage, @unchecked Sendable {
    // Safe to share: the Guarded guards what is in it.
    /// What it was given for tasks.
    let stored = Guarded<[String]>([])

    override func storeCookies(_ cookies: [HTTPCookie], for task: URLSessionTask) {
        stored.change { $0 += cookies.map(\.name) }
        super.storeCookies(cookies, for: task)
    }
}

/// Wants another request when its time has come.
final class DelayingScribe: NSObject, URLSessionDownloadDelegate {
    let transcript = Transcript()
    let ended = Signal()
    let asked = Guarded<Date?>(nil)
    private let other: URL
    /// Whether the new request is the old one but for its URL.
    private let keepsRequest: Bool

    init(_ other: URL, keepsRequest: Bool = false) { (self.other, self.keepsRequest) = (other, keepsRequest) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        asked.value = Date()
        transcript.note("asked \(request.url?.path ?? "")")
        var next = keepsRequest ? request : URLRequest(url: other)
        next.url = other
        completionHandler(.useNewRequest, next)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        transcript.note("file \((try? String(contentsOf: location, encoding: .utf8)) ?? "")")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transcript.note("end \(Transcript.text(error))")
        ended.fire()
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        transcript.invalidated.fire()
    }
}

/// Is asked about responses and does not answer.
private final class SilentAboutResponses: NSObject, URLSessionDataDelegate {
    let transcript = Transcript()
    let asked = Signal()

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transcript.note("response")
        asked.fire()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transcript.note("data")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transcript.note("end \(Transcript.text(error))")
        transcript.completed.fire()
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        transcript.invalidated.fire()
    }
}
