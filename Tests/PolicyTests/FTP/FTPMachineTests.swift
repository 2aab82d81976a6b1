// Whole conversations with FTP servers, by what the machine says to what it hears.

import Testing
import URLLoadingPolicy

@Suite struct FTPMachineTests {
    /// Plays a conversation and writes down what the machine does.
    private struct Conversation {
        var machine: FTPMachine
        var said: [String] = []

        init(_ path: String, _ change: (inout FTPJob) -> Void = { _ in }) throws {
            var job = FTPJob(
                path: try FTPPath(percentEncoded: path), credential: PasswordCredential(user: "u", password: "p"))
            change(&job)
            machine = FTPMachine(job)
        }

        mutating func note(_ action: FTPAction?) {
            switch action {
            case .send(let command): said.append(String(decoding: command.line.dropLast(2), as: UTF8.self))
            case .secure: said.append("<secure>")
            case .askForCredential(let refusals): said.append("<who? \(refusals)>")
            case .connectAgain: said.append("<again>")
            case .openData(let port): said.append("<data \(port)>")
            case .transfer(let head): said.append("<\(head.content) \(head.offset) of \(head.size ?? -1)>")
            case .finish: said.append("<done>")
            case .fail(let failure): said.append("<\(failure)>")
            case nil: break
            }
        }

        mutating func hear(_ replies: String...) {
            for text in replies {
                guard let code = Int(text.prefix(3)) else { continue }
                note(machine.replied(FTPReply(code: code, text: Array(text.dropFirst(4).utf8))))
            }
        }

        mutating func opened() { note(machine.dataOpened()) }
        mutating func unreachable() { note(machine.dataUnreachable()) }
        mutating func ended(_ count: Int64) { note(machine.dataEnded(count: count)) }
        mutating func lost(_ count: Int64) { note(machine.dataLost(count: count)) }
        mutating func cut() { note(machine.controlEnded()) }
        mutating func secured() { note(machine.secured()) }
        mutating func answer(_ user: String?) {
            note(machine.credentialAnswered(user.map { PasswordCredential(user: $0, password: "p2") }))
        }

        /// Up to the place where data flows, with a file of so many bytes.
        mutating func begin(size: Int) {
            hear("220", "331", "230", "200", "213 \(size)", "229 (|||7|)")
            opened()
            hear("150")
        }

        var last: String? { said.last }
    }

    @Test("B14.20, B14.22, B14.23: a file: login, directories, form, length, EPSV, RETR") func file() throws {
        var conversation = try Conversation("/a/b/c.txt")
        conversation.hear("220 hi", "331 password", "230 in", "250", "250", "200", "213 5", "229 (|||7|)")
        conversation.opened()
        conversation.hear("150")
        conversation.ended(5)
        conversation.hear("226")
        #expect(
            conversation.said == [
                "USER u", "PASS p", "CWD a", "CWD b", "TYPE I", "SIZE c.txt", "EPSV", "<data 7>", "RETR c.txt",
                "<file 0 of 5>", "<done>",
            ])
    }

    @Test("B14.22: a server without EPSV is asked by PASV; one without SIZE goes without a length") func old() throws {
        var conversation = try Conversation("/c")
        conversation.hear("220", "230", "200", "502", "500", "227 (192,0,2,1,1,2)")
        conversation.opened()
        conversation.hear("125")
        // The reply may come before the end of the data.
        conversation.hear("226")
        conversation.ended(9)
        #expect(
            conversation.said == [
                "USER u", "TYPE I", "SIZE c", "EPSV", "PASV", "<data 258>", "RETR c", "<file 0 of -1>", "<done>",
            ])
    }

    @Test("B14.22: where no connection to the port of EPSV can be made, PASV is tried once") func firewall() throws {
        var conversation = try Conversation("/c")
        conversation.hear("220", "230", "200", "213 1", "229 (|||7|)")
        conversation.unreachable()
        #expect(conversation.last == "PASV")
        conversation.hear("227 (1,2,3,4,0,9)")
        #expect(conversation.last == "<data 9>")
        #expect(conversation.machine.dataUnreachable() == nil)
    }

    @Test(
        "B14.22: an answer without a usable port is an error",
        arguments: [("229 (|||0|)", nil), ("229 nothing", nil), ("500", "227 (1,2,3,4,0,0)"), ("200 (|||7|)", nil)]
            as [(String, String?)])
    func ports(first: String, second: String?) throws {
        var conversation = try Conversation("/c")
        conversation.hear("220", "230", "200", "213 1", first)
        if let second { conversation.hear(second) }
        #expect(conversation.last == "<\(FTPFailure.malformedAddress)>")
    }

    @Test("B14.24: a path that ends in a slash lists the directory; B14.23: ;type=d its names") func listing() throws {
        var conversation = try Conversation("/a/")
        conversation.hear("220", "230", "250", "200", "229 (|||7|)")
        conversation.opened()
        conversation.hear("150")
        conversation.ended(100)
        conversation.hear("250")
        #expect(
            conversation.said == [
                "USER u", "CWD a", "TYPE A", "EPSV", "<data 7>", "LIST", "<listing 0 of -1>", "<done>",
            ])
        var names = try Conversation("/a;type=d")
        names.hear("220", "230", "250", "200", "229 (|||7|)")
        names.opened()
        #expect(names.last == "NLST")
    }

    @Test("B14.23: text is transferred as text, without a length") func text() throws {
        var conversation = try Conversation("/c;type=a")
        conversation.hear("220", "230", "200", "229 (|||7|)")
        conversation.opened()
        #expect(conversation.said == ["USER u", "TYPE A", "EPSV", "<data 7>", "RETR c"])
    }

    @Test("B14.24: a name that is a directory, a missing file and a missing directory each have their own error")
    func missing() throws {
        for (answer, failure) in [("250", FTPFailure.isDirectory), ("550", .missing)] {
            var conversation = try Conversation("/c")
            conversation.hear("220", "230", "200", "550", "229 (|||7|)")
            conversation.opened()
            conversation.hear("550", answer)
            #expect(conversation.said.suffix(2) == ["CWD c", "<\(failure)>"])
        }
        var conversation = try Conversation("/a/c")
        conversation.hear("220", "230", "550")
        #expect(conversation.last == "<\(FTPFailure.missing)>")
    }

    @Test("B14.25: uploads are stored") func store() throws {
        var conversation = try Conversation("/a/c") { $0.purpose = .store }
        conversation.hear("220", "230", "250", "200", "229 (|||7|)")
        conversation.opened()
        conversation.hear("150")
        conversation.ended(7)
        conversation.hear("226")
        #expect(
            conversation.said == [
                "USER u", "CWD a", "TYPE I", "EPSV", "<data 7>", "STOR c", "<nothing 0 of -1>", "<done>",
            ])
        var directory = try Conversation("/a/") { $0.purpose = .store }
        directory.hear("220", "230", "250")
        #expect(directory.last == "<\(FTPFailure.isDirectory)>")
        for (code, failure) in [
            (552, FTPFailure.unavailable(code: 552)), (550, .notPermitted(code: 550)),
            (426, .transferAborted(code: 426)),
        ] {
            var refused = try Conversation("/c") { $0.purpose = .store }
            refused.hear("220", "230", "200", "229 (|||7|)")
            refused.opened()
            refused.hear("150")
            refused.lost(3)
            refused.hear("\(code)")
            #expect(refused.last == "<\(failure)>")
        }
        // A server that says it has everything before it was told that this is all.
        var hasty = try Conversation("/c") { $0.purpose = .store }
        hasty.hear("220", "230", "200", "229 (|||7|)")
        hasty.opened()
        hasty.hear("150", "226")
        #expect(hasty.last == "<\(FTPFailure.dataConnectionLost)>")
    }

    @Test("B14.21: without credentials the machine logs in as an anonymous user") func anonymous() throws {
        var conversation = try Conversation("/c") { $0.credential = nil }
        conversation.hear("220")
        conversation.answer(nil)
        conversation.hear("331")
        #expect(conversation.said == ["<who? 0>", "USER anonymous", "PASS anonymous@"])
        conversation.hear("530")
        conversation.answer(nil)
        #expect(conversation.said.suffix(2) == ["<who? 1>", "<\(FTPFailure.loginRefused(code: 530))>"])
    }

    @Test("B14.21: a refused password is asked for again, on the same connection or, where that is gone, on another")
    func refusals() throws {
        var conversation = try Conversation("/c")
        conversation.hear("220", "331", "530")
        conversation.answer("v")
        conversation.hear("331", "530")
        conversation.cut()
        conversation.answer("w")
        conversation.hear("220", "230")
        #expect(
            conversation.said == [
                "USER u", "PASS p", "<who? 1>", "USER v", "PASS p2", "<who? 2>", "<again>", "USER w", "TYPE I",
            ])
        // The server answers 421 while the next password is still awaited.
        var slow = try Conversation("/c")
        slow.hear("220", "530", "421")
        slow.answer("v")
        #expect(slow.last == "<again>")
    }

    @Test("B14.21: an end that crosses the next user name leads to another connection, once for each refusal")
    func crossing() throws {
        for isSaid in [false, true] {
            var conversation = try Conversation("/c")
            conversation.hear("220", "530")
            conversation.answer("v")
            if isSaid { conversation.hear("421 bye") } else { conversation.cut() }
            conversation.hear("220")
            #expect(conversation.said.suffix(3) == ["USER v", "<again>", "USER v"])
            conversation.cut()
            #expect(conversation.last == "<\(FTPFailure.controlClosed)>")
        }
    }

    @Test("A server that wants an account is an error, and so is a user name or password with a line end or NUL")
    func account() throws {
        for replies in [["332"], ["331", "332"]] {
            var conversation = try Conversation("/c")
            conversation.hear("220")
            for reply in replies { conversation.hear(reply) }
            #expect(conversation.last == "<\(FTPFailure.accountRequired)>")
        }
        var evil = try Conversation("/c") { $0.credential = PasswordCredential(user: "a\r\nDELE x", password: "p") }
        evil.hear("220")
        #expect(evil.said == ["<\(FTPFailure.unsendableCredential)>"])
        var other = try Conversation("/c") { $0.credential = PasswordCredential(user: "a", password: "p\u{0}") }
        other.hear("220")
        #expect(other.said == ["<\(FTPFailure.unsendableCredential)>"])
    }

    @Test("B14.26: TLS comes before the user name, for both connections") func protection() throws {
        var conversation = try Conversation("/c") { $0.isProtected = true }
        conversation.hear("220", "234")
        conversation.secured()
        conversation.hear("200", "200")
        #expect(conversation.said == ["AUTH TLS", "<secure>", "PBSZ 0", "PROT P", "USER u"])
        for replies in [["500"], ["234", "500"], ["234", "200", "536"]] {
            var refused = try Conversation("/c") { $0.isProtected = true }
            refused.hear("220")
            for reply in replies {
                refused.hear(reply)
                refused.secured()
            }
            #expect(!refused.said.contains("USER u"))
            #expect(refused.last?.contains("TLS") == true)
        }
    }

    @Test(
        "Data shorter than announced is an error, whatever the server says; so is a last reply that is missing or wrong"
    )
    func short() throws {
        var short = try Conversation("/c")
        short.begin(size: 10)
        short.ended(9)
        short.hear("226")
        #expect(short.last == "<\(FTPFailure.truncated(received: 9, expected: 10))>")

        var broken = try Conversation("/c")
        broken.begin(size: 10)
        broken.lost(10)
        broken.hear("226")
        #expect(broken.last == "<\(FTPFailure.dataConnectionLost)>")

        var aborted = try Conversation("/c")
        aborted.begin(size: 10)
        aborted.ended(10)
        aborted.hear("426")
        #expect(aborted.last == "<\(FTPFailure.transferAborted(code: 426))>")

        var wrong = try Conversation("/c")
        wrong.begin(size: 10)
        wrong.ended(10)
        wrong.hear("200")
        #expect(wrong.last == "<\(FTPFailure.refused(verb: "RETR", code: 200))>")

        var silent = try Conversation("/c")
        silent.begin(size: 10)
        silent.ended(10)
        silent.cut()
        #expect(silent.last == "<\(FTPFailure.controlClosed)>")

        var cut = try Conversation("/c")
        cut.begin(size: 10)
        cut.ended(4)
        cut.cut()
        #expect(cut.last == "<\(FTPFailure.truncated(received: 4, expected: 10))>")
    }

    @Test("After the server's last reply only the data is waited for, however slowly it is taken")
    func farewell() throws {
        for isShort in [false, true] {
            var conversation = try Conversation("/c")
            conversation.begin(size: 10)
            conversation.hear("226", "421 too slow")
            conversation.cut()
            #expect(conversation.machine.isSettled)
            conversation.ended(isShort ? 9 : 10)
            #expect(
                conversation.last == (isShort ? "<\(FTPFailure.truncated(received: 9, expected: 10))>" : "<done>"))
        }
    }

    @Test("The download of an unchanged file continues where it ended; that of a changed file begins anew")
    func resumption() throws {
        let known = FTPFileState(size: 10, date: "20260102030405")
        func resume(_ size: String, _ date: String) throws -> Conversation {
            var conversation = try Conversation("/c") { $0.purpose = .resume(from: 4, of: known) }
            conversation.hear("220", "230", "200", size)
            if conversation.last == "MDTM c" { conversation.hear(date) }
            conversation.hear("229 (|||7|)")
            conversation.opened()
            return conversation
        }
        var same = try resume("213 10", "213 20260102030405")
        #expect(same.last == "REST 4")
        same.hear("350", "150")
        #expect(same.said.suffix(2) == ["RETR c", "<file 4 of 10>"])
        same.ended(6)
        same.hear("226")
        #expect(same.last == "<done>")

        // The server said yes, and began at the beginning all the same.
        var lying = try resume("213 10", "213 20260102030405")
        lying.hear("350", "150")
        lying.ended(10)
        lying.hear("226")
        #expect(lying.last == "<\(FTPFailure.overlong(received: 10, expected: 6))>")

        var unable = try resume("213 10", "213 20260102030405")
        unable.hear("502", "150")
        #expect(unable.last == "<file 0 of 10>")

        #expect(try resume("213 11", "213 20260102030405").last == "RETR c")
        #expect(try resume("213 10", "213 20260102030406").last == "RETR c")
        #expect(try resume("213 10", "500").last == "RETR c")
        #expect(try resume("500", "").last == "RETR c")
    }

    @Test("421 ends the transfer at any step, and a reply to no command is an error") func unavailable() throws {
        var conversation = try Conversation("/c")
        conversation.hear("421")
        #expect(conversation.said == ["<\(FTPFailure.serviceUnavailable)>"])
        var early = try Conversation("/c")
        early.hear("120", "220", "230", "200", "213 1", "229 (|||7|)", "226")
        #expect(early.last?.contains("226") == true)
        early.hear("226")
        early.cut()
        #expect(early.said.count == 6)
        var none = try Conversation("/c")
        none.cut()
        #expect(none.said == ["<\(FTPFailure.controlClosed)>"])
    }

    @Test(
        "After an unusable reply to SIZE the length is unknown",
        arguments: ["213 99999999999999999999", "213 -1", "213 x", "213", "200 5", "213 0x10", "213 12 34"])
    func sizes(reply: String) throws {
        var conversation = try Conversation("/c")
        conversation.hear("220", "230", "200", reply, "229 (|||7|)")
        conversation.opened()
        conversation.hear("150")
        #expect(conversation.last == "<file 0 of -1>")
    }

    @Test("Whatever replies come in whatever order, the transfer ends at most once and nothing traps")
    func randomWalk() throws {
        var random = SeededRandom(seed: 14)
        let codes = [
            120, 125, 150, 200, 213, 220, 226, 227, 229, 230, 234, 250, 331, 332, 350, 421, 425, 426, 500, 530, 550,
        ]
        for _ in 0..<3000 {
            var conversation = try Conversation(["/c", "/a/", "/a/b;type=a"].randomElement(using: &random) ?? "/") {
                $0.isProtected = random.next() % 2 == 0
                $0.purpose =
                    [.retrieve, .store, .resume(from: 3, of: FTPFileState(size: 9, date: "20260102030405"))]
                    .randomElement(using: &random) ?? .retrieve
            }
            for _ in 0..<40 {
                switch Int(random.next() % 12) {
                case 0: conversation.opened()
                case 1: conversation.ended(Int64(random.next() % 12))
                case 2: conversation.lost(3)
                case 3: conversation.answer(random.next() % 2 == 0 ? "x" : nil)
                case 4: conversation.secured()
                case 5: conversation.unreachable()
                default:
                    let code = codes.randomElement(using: &random) ?? 200
                    conversation.hear("\(code) (|||7|) 1,2,3,4,5,6")
                }
            }
            conversation.cut()
            let ends = conversation.said.filter { $0 == "<done>" || $0.hasSuffix(".>") }
            #expect(ends.count <= 1)
        }
    }
}
