// A program with cookies of its own, for what only a process of its own can show: what is left when it has ended, and
// what two make of one file. It also plays requests and answers for Scripts/cookie-differences.

import Foundation
import URLLoading
import URLLoadingPolicy
import URLLoadingTestSupport

/// Does one thing with the storage of the process, or with a group's if the first words are `--group NAME`.
enum CookieTool {
    static func run(_ arguments: [String]) async {
        var words = arguments[...]
        var storage = HTTPCookieStorage.shared
        if words.first == "--group" {
            storage = .sharedCookieStorage(forGroupContainerIdentifier: words.dropFirst().first ?? "")
            words = words.dropFirst(2)
        }
        let rest = Array(words.dropFirst())
        switch (words.first, rest.count) {
        case ("set", 3): set(rest[0], rest[1], seconds: Double(rest[2]), in: storage)
        case ("delete", 1): delete(rest[0], in: storage)
        case ("list", 0): list(storage)
        case ("reset", 0): await session(storage).reset()
        case ("hammer", 2): await hammer(rest[0], count: Int(rest[1]) ?? 0, storage)
        case ("play", 0): play()
        default:
            print("usage: cookie [--group NAME] set NAME VALUE SECONDS|- | delete NAME | list | reset")
            print("              | hammer PREFIX COUNT | play")
            exit(64)
        }
    }

    private static func session(_ storage: HTTPCookieStorage) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = storage
        return URLSession(configuration: configuration)
    }

    /// Keeps a cookie that lives so long, or as long as the program.
    private static func set(_ name: String, _ value: String, seconds: Double?, in storage: HTTPCookieStorage) {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: "example.com", .path: "/", .version: "1",
        ]
        if let seconds { properties[.maximumAge] = "\(seconds)" }
        if let cookie = HTTPCookie(properties: properties) { storage.setCookie(cookie) }
    }

    private static func delete(_ name: String, in storage: HTTPCookieStorage) {
        for cookie in storage.cookies ?? [] where cookie.name == name { storage.deleteCookie(cookie) }
    }

    private static func list(_ storage: HTTPCookieStorage) {
        for cookie in storage.cookies ?? [] { print("\(cookie.name)=\(cookie.value)") }
    }

    /// Sets a few cookies over and over, each time to the disk, and deletes one in four.
    private static func hammer(_ prefix: String, count: Int, _ storage: HTTPCookieStorage) async {
        let session = session(storage)
        for number in 0..<count {
            let name = "\(prefix)\(number % 8)"
            set(name, "\(number)", seconds: 3600, in: storage)
            if number % 4 == 3 { delete(name, in: storage) }
            await session.flush()
        }
    }

    /// Reads `> URL`, `< FIELD` and `? URL` (Tests/Vectors/cookies.txt) and prints the Cookie field of each request;
    /// a line `* …` begins with an empty storage.
    private static func play() {
        var storage = HTTPCookieStorage()
        var place: CookiePlace?
        while let line = readLine() {
            let body = String(line.dropFirst(2))
            switch line.first {
            case "*": storage = HTTPCookieStorage()
            case ">": place = URL(string: body).flatMap { CookiePlace($0) }
            case "<":
                guard let place else { continue }
                _ = storage.store.receive(fields: [VectorText.unescape(body)], from: CookieContext(place))
            case "?":
                let field = URL(string: body).flatMap { CookiePlace($0) }
                    .flatMap { storage.store.field(for: CookieContext($0)) }
                print(VectorText.escape(field ?? "-"))
            default: continue
            }
        }
    }
}
