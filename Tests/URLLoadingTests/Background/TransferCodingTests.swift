// Journals and messages of background sessions: they are read as they were written, and other bytes are refused.

import Foundation
import Testing
import URLLoadingPolicy

@testable import URLLoading

@Suite struct TransferCodingTests {
    static var states: [TransferState] {
        [
            .waiting, .running, .retrying(attempt: 3, delay: 4000), .asking(TransferSamples.challenge),
            .asking(TransferSamples.aboutServer(.response([6]))), .over,
        ]
    }

    @Test("B10.30: a journal comes back from its bytes as it was, in every state", arguments: states)
    func recordRoundTrip(state: TransferState) throws {
        let record = TransferSamples.record(state)
        let bytes = try #require(TransferRecordCoding.encoded(record))
        #expect(try TransferRecordCoding.record(bytes) == record)
    }

    @Test("B10.30: a journal is of another version only where its request limits what a coded body may become")
    func limitedRecord() throws {
        var record = TransferSamples.record()
        let old = try #require(TransferRecordCoding.encoded(record))
        #expect(old[8] == 3)
        for (bytes, ratio) in [(1000, nil), (nil, 10), (0, 5)] as [(Int64?, Int64?)] {
            record.original.maximumDecodedBytes = bytes
            record.original.maximumDecodedRatio = ratio
            let new = try #require(TransferRecordCoding.encoded(record))
            #expect(new[8] == 4)
            #expect(try TransferRecordCoding.record(new) == record)
        }
    }

    /// The sample's response with one part that earlier forms did not have.
    private static func extendedHeads() -> [TransferHead] {
        var (version, reason, trailers) = (TransferSamples.head, TransferSamples.head, TransferSamples.head)
        version.version = 20
        reason.reason = "Fine"
        trailers.trailers = [TransferField("a", "b")]
        return [version, reason, trailers, TransferSamples.wholeHead]
    }

    @Test("B10.30: a journal is of another version where a response in it has its version, words or trailers")
    func extendedRecord() throws {
        for head in Self.extendedHeads() {
            var challenge = TransferSamples.challenge
            challenge.head = head
            var exchange = TransferExchange(TransferSamples.request)
            exchange.head = head
            var measures = TransferMeasures()
            measures.add([exchange], redirects: 0)
            var (answered, measured, ended) = (
                TransferSamples.record(), TransferSamples.record(), TransferSamples.record()
            )
            answered.head = head
            measured.measures = measures
            ended.add(.measured(measures))
            for record in [answered, measured, ended, TransferSamples.record(.asking(challenge))] {
                let bytes = try #require(TransferRecordCoding.encoded(record))
                #expect(bytes[8] == 4)
                #expect(try TransferRecordCoding.record(bytes) == record)
            }
        }
    }

    @Test("B10.31: a plain response has the form of before; one that says without need that more follows is refused")
    func formOfHead() throws {
        func form(_ head: TransferHead, status: UInt16) -> ByteWriter {
            var writer = ByteWriter(capacity: 256)
            writer.value(head.url)
            writer.value(status)
            writer.value(head.fields)
            writer.value(head.expectedLength)
            return writer
        }
        let head = TransferSamples.head
        var plain = ByteWriter(capacity: 256)
        plain.value(head)
        #expect(plain.bytes == form(head, status: head.status).bytes)
        for version in [11, 0, 9, 21] as [UInt8] {
            var writer = form(head, status: head.status | 1 << 15)
            writer.number(version)
            writer.value(String?.none)
            writer.value([TransferField]())
            let bytes = writer.bytes
            #expect(throws: TransferCodingError.impossible) { let _: TransferHead = try wholeValue(bytes) }
        }
    }

    @Test("B16.46: a response that has crossed to another process has its version, its words and its trailers")
    func responseOfHead() throws {
        let response = try #require(TransferSamples.wholeHead.response as? HTTPURLResponse)
        #expect(response.statusLine == "HTTP/1.0 206 Rather  fine")
        #expect(response.value(forHTTPTrailerField: "X-Sum") == "1, 2")
        #expect(TransferHead(response) == TransferSamples.wholeHead)
    }

    @Test("B10.30: settings come back from their bytes as they were")
    func settingsRoundTrip() throws {
        let bytes = try #require(TransferRecordCoding.encoded(settings: TransferSamples.settings))
        #expect(try TransferRecordCoding.settings(bytes) == TransferSamples.settings)
    }

    @Test("B10.30: a journal that was cut anywhere is refused")
    func cutRecords() throws {
        let bytes = try #require(TransferRecordCoding.encoded(TransferSamples.record()))
        for count in bytes.indices {
            #expect(throws: TransferCodingError.truncated) { try TransferRecordCoding.record(Array(bytes[..<count])) }
        }
        #expect(throws: TransferCodingError.trailing) { try TransferRecordCoding.record(bytes + [0]) }
    }

    @Test("B10.30: a journal with any bit changed is refused")
    func damagedRecords() throws {
        let bytes = try #require(TransferRecordCoding.encoded(TransferSamples.record()))
        for index in bytes.indices {
            for bit in 0..<8 {
                var wrong = bytes
                wrong[index] ^= 1 << UInt8(bit)
                #expect(throws: TransferCodingError.self) { try TransferRecordCoding.record(wrong) }
            }
        }
    }

    @Test("B10.30: a journal of another version, or of something else than a transfer, is refused with its reason")
    func foreignRecords() throws {
        var bytes = try #require(TransferRecordCoding.encoded(TransferSamples.record()))
        bytes[8] = 1
        #expect(throws: TransferCodingError.unknownVersion(1)) { try TransferRecordCoding.record(bytes) }
        let session = try #require(TransferRecordCoding.encoded(settings: TransferSamples.settings))
        #expect(throws: TransferCodingError.notOurs) { try TransferRecordCoding.record(session) }
        #expect(throws: TransferCodingError.notOurs) { try TransferRecordCoding.record(Array("hello, world".utf8)) }
        #expect(throws: TransferCodingError.truncated) { try TransferRecordCoding.record([]) }
    }

    @Test("B10.30: a journal with impossible values is refused")
    func impossibleRecords() throws {
        var record = TransferSamples.record()
        record.source = nil
        let bare = try #require(TransferRecordCoding.encoded(record))
        #expect(throws: TransferCodingError.impossible) { try TransferRecordCoding.record(bare) }
        record = TransferSamples.record()
        record.counts.received = -5
        let negative = try #require(TransferRecordCoding.encoded(record))
        #expect(throws: TransferCodingError.impossible) { try TransferRecordCoding.record(negative) }
    }

    @Test("B10.31: every message comes back from its frame as it was")
    func messages() throws {
        for command in TransferSamples.commands {
            let frame = try #require(command.frame)
            #expect(try TransferCommand(frame: Array(frame.dropFirst(4))) == command)
        }
        for event in TransferSamples.events {
            let frame = try #require(event.frame)
            #expect(try TransferEvent(frame: Array(frame.dropFirst(4))) == event)
        }
    }

    /// A question in the form of before there was stapling, with these issuers.
    private static func oldForm(of challenge: TransferChallenge, issuers: [[UInt8]]) -> [UInt8] {
        var space = challenge.space
        space.distinguishedNames = issuers
        var writer = ByteWriter(capacity: 256)
        writer.value(challenge.number)
        writer.value(space)
        writer.value(challenge.failures)
        writer.value(challenge.head)
        writer.value(challenge.certificates.coded)
        return writer.bytes
    }

    @Test(
        "B10.31: a question about a server has the form of before, with what was stapled in the place of issuers",
        arguments: [
            (.unknown, []), (.absent, [[]]), (.response([6, 7]), [[6, 7]]),
        ] as [(TransferStapling, [[UInt8]])])
    func stapling(stapling: TransferStapling, issuers: [[UInt8]]) throws {
        let challenge = TransferSamples.aboutServer(stapling)
        let old = Self.oldForm(of: challenge, issuers: issuers)
        var new = ByteWriter(capacity: 256)
        new.value(challenge)
        #expect(new.bytes == old)
        let read: TransferChallenge = try wholeValue(old)
        #expect(read == challenge)
    }

    @Test("B10.31: a question that may be answered for its task alone has the form of before")
    func questionOfTask() throws {
        var old = TransferSamples.challengeOfTask
        old.takesOnce = false
        for (challenge, certificates) in [(old, []), (TransferSamples.challengeOfTask, [[]])]
            as [(TransferChallenge, [[UInt8]])]
        {
            old.certificates = certificates
            let bytes = Self.oldForm(of: old, issuers: old.space.distinguishedNames)
            let read: TransferChallenge = try wholeValue(bytes)
            #expect(read == challenge)
        }
    }

    @Test("B10.31, B2.108: a question of a server behind a socket has the form of before")
    func questionBehindSocket() throws {
        var challenge = TransferSamples.challengeBehindSocket
        challenge.takesOnce = false
        let bytes = Self.oldForm(of: challenge, issuers: [[]])
        var new = ByteWriter(capacity: 256)
        new.value(challenge)
        #expect(new.bytes == bytes)
        let read: TransferChallenge = try wholeValue(bytes)
        #expect(read == challenge)
    }

    @Test("B10.31: a question with two stapled responses is refused")
    func twoResponses() {
        let bytes = Self.oldForm(of: TransferSamples.aboutServer(.unknown), issuers: [[1], [2]])
        #expect(throws: TransferCodingError.impossible) { let _: TransferChallenge = try wholeValue(bytes) }
    }

    @Test(
        "B10.43: a task that is met again is told of without bodies, which its journal has; what is asked for is known")
    func summaries() throws {
        let original = TransferSamples.request
        var record = TransferSamples.record(.running)
        for (current, isRedirected) in [(original, false), (TransferSamples.order.current, true)] {
            for body in [original.body, nil] where isRedirected || body != nil {
                record.current = current
                record.current.body = body
                let summary = record.summary
                #expect((summary.redirect != nil) == isRedirected)
                #expect(summary.redirect?.body == nil)
                #expect(summary.current(after: original) == record.current)
            }
        }
    }

    @Test("B10.31: messages are decoded however their stream is cut: whole, byte by byte and at every place")
    func splits() throws {
        let events = TransferSamples.events
        let frames = events.compactMap(\.frame)
        let stream = frames.flatMap { $0 }
        #expect(try Self.read([stream], as: TransferEvent.self) == events)
        #expect(try Self.read(stream.map { [$0] }, as: TransferEvent.self) == events)
        for (event, frame) in zip(events, frames) {
            for place in frame.indices {
                let parts = [Array(frame[..<place]), Array(frame[place...])]
                #expect(try Self.read(parts, as: TransferEvent.self) == [event])
            }
        }
        let commands = TransferSamples.commands
        let said = commands.compactMap(\.frame).flatMap { $0 }
        #expect(try Self.read(said.map { [$0] }, as: TransferCommand.self) == commands)
    }

    private static func read<Message: TransferMessage>(
        _ parts: [[UInt8]], as type: Message.Type
    ) throws -> [Message] {
        var decoder = TransferDecoder<Message>()
        var messages: [Message] = []
        for part in parts {
            decoder.receive(part)
            while let message = try decoder.next() { messages.append(message) }
        }
        #expect(decoder.isBetweenMessages)
        return messages
    }

    @Test("B10.31: a message that is cut, too long or unknown is an error, and no message behind it is decoded")
    func badMessages() throws {
        for command in TransferSamples.commands {
            let frame = Array(try #require(command.frame).dropFirst(4))
            for count in frame.indices {
                #expect(throws: TransferCodingError.self) { try TransferCommand(frame: Array(frame[..<count])) }
            }
            #expect(throws: TransferCodingError.trailing) { try TransferCommand(frame: frame + [0]) }
        }
        var decoder = TransferDecoder<TransferCommand>()
        decoder.receive([0xFF, 0xFF, 0xFF, 0x7F])
        #expect(throws: TransferCodingError.tooLong) { try decoder.next() }
        decoder.receive(try #require(TransferCommand.list.frame))
        #expect(throws: TransferCodingError.tooLong) { try decoder.next() }
        #expect(!decoder.isBetweenMessages)
        #expect(throws: TransferCodingError.impossible) { try TransferCommand(frame: [99]) }
        #expect(throws: TransferCodingError.impossible) { try TransferEvent(frame: [99]) }
    }

    @Test("B10.31: a greeting of another version is recognised, whatever bytes follow the version")
    func otherLanguage() throws {
        guard case .hello(let hello) = try TransferCommand(frame: [1, 7, 0, 0, 0, 1, 2, 3]) else {
            Issue.record("no greeting")
            return
        }
        #expect(hello.version == 7)
    }

    @Test("B10.31: choices of trust that are nested without end are refused")
    func nesting() {
        var trust = TransferSettings.Trust.system
        for _ in 0..<40 { trust = .allOf([trust]) }
        var settings = TransferSettings(identifier: "x")
        settings.trust = trust
        let bytes = TransferRecordCoding.encoded(settings: settings) ?? []
        #expect(throws: TransferCodingError.tooLong) { try TransferRecordCoding.settings(bytes) }
    }

    @Test("B10.38: printed requests and commands show no credential")
    func secrets() {
        let shown = "\(TransferSamples.request) \(TransferSamples.commands)"
        #expect(!shown.contains("c2VjcmV0"))
        #expect(!shown.contains("password: \"p\""))
        var text = ""
        dump(TransferSamples.record(), to: &text)
        #expect(!text.contains("c2VjcmV0"))
    }

    @Test("B12.5: times by a clock that is off by millions of years are left out")
    func farTimes() {
        var dates = TransactionDates()
        dates.fetchStart = Date(timeIntervalSince1970: 3e14)
        dates.requestStart = Date(timeIntervalSince1970: -3e14)
        dates.requestEnd = Date(timeIntervalSince1970: .nan)
        dates.responseEnd = Date(timeIntervalSince1970: 1.5)
        let times = dates.times
        #expect(times.fetchStart == nil && times.requestStart == nil && times.requestEnd == nil)
        #expect(times.responseEnd == 1_500_000)
    }

    @Test("B12.5: of many exchanges the last are kept, and all redirects counted")
    func manyExchanges() throws {
        var measures = TransferMeasures()
        for number in 0..<100 {
            var exchange = TransferExchange(TransferSamples.request)
            exchange.counts.requestHead = Int64(number)
            measures.add([exchange], redirects: 2)
        }
        #expect(measures.exchanges.map(\.counts.requestHead) == Array(84..<100) && measures.redirects == 200)
        // What is long takes the place of several.
        var long = TransferExchange(TransferSamples.request)
        long.head = TransferSamples.head
        long.head?.fields = [TransferField("X", String(repeating: "x", count: 100_000))]
        measures.add([long, long, long], redirects: 0)
        #expect(measures.exchanges == [long, long])
        long.head?.fields = [TransferField("X", String(repeating: "x", count: 300_000))]
        measures.add([long], redirects: 0)
        #expect(measures.exchanges.isEmpty && !measures.isEmpty)
        // So do a server's words, and what comes behind a body.
        var (wordy, trailing) = (TransferExchange(TransferSamples.request), TransferExchange(TransferSamples.request))
        (wordy.head, trailing.head) = (TransferSamples.head, TransferSamples.head)
        wordy.head?.reason = String(repeating: "x", count: 100_000)
        trailing.head?.trailers = [TransferField("X", String(repeating: "x", count: 100_000))]
        measures.add([wordy, trailing, wordy], redirects: 0)
        #expect(measures.exchanges == [trailing, wordy])
    }

    @Test("B10.33: a task's events are numbered, and forgotten up to the number that the program has confirmed")
    func news() {
        var record = TransferSamples.record(.over)
        #expect(record.events.map(\.number) == [1, 2, 3, 4, 5])
        #expect(record.heard(upTo: 2) == true)
        #expect(record.heard(upTo: 2) == false)
        #expect(record.events.map(\.number) == [3, 4, 5])
        #expect(!record.isDone)
        #expect(record.heard(upTo: 99) == true)
        #expect(record.isDone)
    }
}
