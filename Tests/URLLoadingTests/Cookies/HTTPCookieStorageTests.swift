// HTTPCookieStorage (behaviour 8.5).

import Foundation
import Testing
import URLLoading
import URLLoadingTestSupport

@Suite("HTTPCookieStorage")
struct HTTPCookieStorageTests {
    private let storage = HTTPCookieStorage()

    private func cookie(
        _ name: String, _ value: String = "1", domain: String = "example.com",
        _ more: [HTTPCookiePropertyKey: Any] = [:]
    ) throws -> HTTPCookie {
        let properties: [HTTPCookiePropertyKey: Any] = [.name: name, .value: value, .domain: domain, .path: "/"]
        return try #require(HTTPCookie(properties: properties.merging(more) { $1 }))
    }

    private func url(_ text: String = "https://example.com/") throws -> URL { try #require(URL(string: text)) }

    private func names(_ url: String = "https://example.com/") throws -> [String] {
        try #require(storage.cookies(for: try self.url(url))).map(\.name)
    }

    @Test("B8.60: the shared storage is one object, and many threads may use it")
    func shared() async {
        #expect(HTTPCookieStorage.shared === HTTPCookieStorage.shared)
        #expect(URLSessionConfiguration.default.httpCookieStorage === HTTPCookieStorage.shared)
        let storage = storage
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for round in 0..<50 {
                        guard
                            let cookie = HTTPCookie(properties: [
                                .name: "c\(number)", .value: "\(round)", .domain: "example.com",
                            ])
                        else { return }
                        storage.setCookie(cookie)
                        _ = storage.cookies
                        if round % 10 == 9 { storage.deleteCookie(cookie) }
                        storage.setCookie(cookie)
                    }
                }
            }
        }
        #expect(storage.cookies?.map(\.value) == Array(repeating: "49", count: 8))
    }

    @Test("B8.61: a group's storage is one object for one identifier")
    func groups() {
        let one = HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier: "cookie-tests-one")
        #expect(one === HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier: "cookie-tests-one"))
        #expect(one !== HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier: "cookie-tests-two"))
        #expect(one !== HTTPCookieStorage.shared)
    }

    @Test("B8.62: a cookie replaces one of equal name, domain and path; one that has ended removes it, or is not kept")
    func replaces() throws {
        storage.setCookie(try cookie("a"))
        storage.setCookie(try cookie("a", "2"))
        storage.setCookie(try cookie("a", "3", domain: ".example.com"))
        storage.setCookie(try cookie("a", "4", [.path: "/x"]))
        #expect(storage.cookies?.map(\.value) == ["2", "3", "4"])
        storage.setCookie(try cookie("a", "1", [.expires: Date(timeIntervalSinceNow: -1)]))
        storage.setCookie(try cookie("b", "1", [.expires: Date(timeIntervalSinceNow: -1)]))
        #expect(storage.cookies?.map(\.value) == ["3", "4"])
    }

    @Test("B8.63: setCookie keeps every cookie unless the policy is never; setCookies obeys the policy and the domain")
    func policies() throws {
        #expect(storage.cookieAcceptPolicy == .onlyFromMainDocumentDomain)
        let (here, other) = (try url(), try url("https://other.test/"))
        storage.setCookie(try cookie("a"))
        storage.setCookies([try cookie("b")], for: here, mainDocumentURL: other)
        storage.setCookies([try cookie("c")], for: other, mainDocumentURL: nil)
        storage.setCookies([try cookie("d")], for: nil, mainDocumentURL: nil)
        #expect(try names() == ["a"])
        storage.setCookies([try cookie("e")], for: here, mainDocumentURL: here)
        storage.setCookies([try cookie("f")], for: here, mainDocumentURL: nil)
        storage.cookieAcceptPolicy = .always
        storage.setCookies([try cookie("g")], for: here, mainDocumentURL: other)
        storage.cookieAcceptPolicy = .never
        storage.setCookie(try cookie("h"))
        storage.setCookies([try cookie("i")], for: here, mainDocumentURL: here)
        #expect(try names() == ["a", "e", "f", "g"])
        storage.deleteCookie(try cookie("a"))
        #expect(try names() == ["e", "f", "g"])
    }

    @Test("B8.41: a cookie is kept where the main document's host is the URL's or lies below it")
    func mainDocument() throws {
        let (main, swift) = (try url("https://ci.swift.org/"), try cookie("a", domain: "swift.org"))
        storage.setCookies([swift], for: try url("https://dt.swift.org/"), mainDocumentURL: main)
        #expect(storage.cookies == [])
        storage.setCookies([swift], for: try url("https://swift.org/"), mainDocumentURL: main)
        #expect(storage.cookies == [swift])
    }

    @Test("B8.64: deleting an unknown cookie changes nothing; a date removes cookies first kept then or later")
    func deletes() throws {
        storage.setCookie(try cookie("a"))
        storage.deleteCookie(try cookie("b"))
        storage.deleteCookie(try cookie("a", "1", [.path: "/x"]))
        let date = Date()
        storage.setCookie(
            try cookie("c", "1", [HTTPCookiePropertyKey("Created"): date.timeIntervalSinceReferenceDate + 1]))
        storage.removeCookies(since: Date(timeIntervalSinceNow: 1000))
        #expect(try names() == ["a", "c"])
        storage.removeCookies(since: date.addingTimeInterval(0.5))
        #expect(try names() == ["a"])
        storage.removeCookies(since: .distantPast)
        #expect(storage.cookies == [])
    }

    @Test("B8.65: a URL that no cookie matches has an empty list")
    func empty() throws {
        #expect(storage.cookies == [])
        #expect(try names() == [])
        storage.setCookie(try cookie("a"))
        #expect(try names("https://other.test/") == [] && names("file:///x") == [] && names("http://[fe80::1]/") == [])
        #expect(try names("http://example.com/") == ["a"])
    }

    @Test("B8.66: cookies are sorted by each descriptor in turn; equal ones keep the order in which they were set")
    func sorts() throws {
        for (name, value) in [("b", "1"), ("a", "2"), ("c", "1")] { storage.setCookie(try cookie(name, value)) }
        let byName = NSSortDescriptor(keyPath: \HTTPCookie.name, ascending: false)
        let byValue = NSSortDescriptor(keyPath: \HTTPCookie.value, ascending: true)
        #expect(storage.sortedCookies(using: [byName]).map(\.name) == ["c", "b", "a"])
        #expect(storage.sortedCookies(using: [byValue, byName]).map(\.name) == ["c", "b", "a"])
        #expect(storage.sortedCookies(using: [byValue]).map(\.name) == ["b", "c", "a"])
        #expect(storage.sortedCookies(using: []).map(\.name) == ["b", "a", "c"])
    }

    @Test("B8.67: the description tells how many there are, and nothing else of them")
    func description() throws {
        storage.setCookie(try cookie("secret", "treasure"))
        #expect(storage.description == "<NSHTTPCookieStorage cookies count:1>")
    }

    @Test("B8.71: a change is notified on the main thread, with the storage as object")
    func notifications() async throws {
        let told = Signal()
        let policies = Signal()
        // The main queue stands for the main thread, which a program with an asynchronous entry does not keep on Linux.
        let mark = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: mark, value: true)
        let observers = [
            NotificationCenter.default.addObserver(
                forName: .NSHTTPCookieManagerCookiesChanged, object: storage, queue: nil
            ) { notification in
                #expect(DispatchQueue.getSpecific(key: mark) != nil && notification.object is HTTPCookieStorage)
                told.fire()
            },
            NotificationCenter.default.addObserver(
                forName: .NSHTTPCookieManagerAcceptPolicyChanged, object: storage, queue: nil
            ) { _ in policies.fire() },
        ]
        defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
        storage.setCookie(try cookie("a"))
        await told.wait()
        // An equal cookie is set, an unknown one deleted, a third one refused: nothing has changed.
        storage.setCookie(try cookie("a"))
        storage.deleteCookie(try cookie("b"))
        storage.setCookies([try cookie("c")], for: try url("https://other.test/"), mainDocumentURL: nil)
        storage.setCookie(try cookie("a", "2"))
        await told.wait(times: 2)
        storage.deleteCookie(try cookie("a"))
        await told.wait(times: 3)
        storage.cookieAcceptPolicy = .onlyFromMainDocumentDomain
        storage.cookieAcceptPolicy = .always
        await policies.wait()
        await MainActor.run {}
        #expect(told.count == 3 && policies.count == 1)
    }

    @Test("B8.73: the methods for a task give the cookies for its current request, and keep those of its answer")
    func tasks() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = storage
        configuration.httpCookieAcceptPolicy = .onlyFromMainDocumentDomain
        let session = URLSession(configuration: configuration)
        var request = URLRequest(url: try url("https://www.example.com/x/y"))
        request.mainDocumentURL = try url("https://other.test/")
        storage.storeCookies([try cookie("a", domain: "www.example.com")], for: session.dataTask(with: request))
        #expect(storage.cookies == [])
        request.mainDocumentURL = nil
        let task = session.dataTask(with: request)
        storage.storeCookies(
            [
                try cookie("a", domain: ".example.com"), try cookie("b", domain: "www.example.com", [.path: "/x"]),
                try cookie("c", domain: "other.test"), try cookie("d", domain: "www.example.com", [.path: "/z"]),
            ], for: task)
        #expect(storage.cookies?.map(\.name) == ["a", "b", "d"])
        let asked = await withHandover { handover in
            storage.getCookiesFor(task) { handover.resume(returning: $0?.map(\.name)) }
        }
        #expect(asked == ["b", "a"])
        #expect(await storage.cookies(for: task)?.map(\.name) == ["b", "a"])
        request.httpShouldHandleCookies = false
        #expect(await storage.cookies(for: session.dataTask(with: request)) == [])
        session.invalidateAndCancel()
    }

    @Test("B8.63, B8.73: a subclass that says its policy is never keeps no cookies, whatever that of the session is")
    func overriddenPolicy() throws {
        let storage = RefusingStorage()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = storage
        configuration.httpCookieAcceptPolicy = .always
        let session = URLSession(configuration: configuration)
        storage.storeCookies([try cookie("a")], for: session.dataTask(with: try url()))
        storage.setCookies([try cookie("b")], for: try url(), mainDocumentURL: nil)
        storage.setCookie(try cookie("c"))
        #expect(storage.cookies == [])
        session.invalidateAndCancel()
    }

    @Test(
        "B8.42: the session's policy wins over the one that is set on a subclass, for what the session brings alone",
        arguments: [HTTPCookie.AcceptPolicy.always, .never, .onlyFromMainDocumentDomain])
    func policyOfSubclass(set: HTTPCookie.AcceptPolicy) throws {
        for policy in [HTTPCookie.AcceptPolicy.always, .never, .onlyFromMainDocumentDomain] {
            let storage = OwnStorage()
            storage.cookieAcceptPolicy = set
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpCookieStorage = storage
            configuration.httpCookieAcceptPolicy = policy
            let session = URLSession(configuration: configuration)
            var request = URLRequest(url: try url())
            request.mainDocumentURL = URL(string: "http://elsewhere.test/")
            storage.storeCookies([try cookie("a")], for: session.dataTask(with: request))
            #expect(storage.cookies?.map(\.name) == (policy == .always ? ["a"] : []))
            storage.setCookies([try cookie("b")], for: request.url, mainDocumentURL: request.mainDocumentURL)
            #expect(storage.cookies?.contains { $0.name == "b" } == (set == .always))
            session.invalidateAndCancel()
        }
    }

    @Test("B8.74: each ephemeral configuration has a storage of its own")
    func ephemeral() throws {
        let (one, other) = (URLSessionConfiguration.ephemeral, URLSessionConfiguration.ephemeral)
        let storage = try #require(one.httpCookieStorage)
        #expect(storage !== other.httpCookieStorage && storage !== HTTPCookieStorage.shared)
        #expect(one.httpCookieAcceptPolicy == .onlyFromMainDocumentDomain)
        storage.setCookie(try cookie("a"))
        #expect(other.httpCookieStorage?.cookies == [] && storage.cookies?.count == 1)
        #expect((one.copy() as? URLSessionConfiguration)?.httpCookieStorage === storage)
    }
}

/// A class of the program's that changes nothing.
private final class OwnStorage: HTTPCookieStorage, @unchecked Sendable {}

/// Says what its policy is by an override.
private final class RefusingStorage: HTTPCookieStorage, @unchecked Sendable {
    // Safe to share: it adds nothing that changes.
    override var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { .never }
        set {}
    }
}
