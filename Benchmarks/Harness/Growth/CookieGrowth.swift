// A storage of cookies with many in it.

import URLLoading
import URLLoadingPolicy

/// Storages of one size.
struct CookieGrowth {
    let size: Int
    private static let perHost = 10

    /// So many cookies taken, in storages that begin empty and end with as many as the size says.
    func store(_ times: Int) throws {
        for _ in 0..<(times / size) {
            let store = try filled(0..<size, CookieStore(limits: without))
            if store.all.count != size { throw HarnessError("cookies were not taken") }
        }
    }

    /// So many requests, to one host after the other.
    func send(_ times: Int) throws {
        let store = try filled(0..<size, CookieStore(limits: without))
        for number in 0..<times { try expect(store.field(for: context(of: number * Self.perHost % size))) }
    }

    /// So many cookies taken when there have been as many as the size says, with the limits of every storage.
    func pushOut(_ times: Int) throws {
        let store = try filled(0..<size, CookieStore())
        _ = try filled(size..<(size + times), store)
    }

    /// So many requests to one host, which has all cookies.
    func sendOfDomain(_ times: Int) throws {
        let (store, context) = (CookieStore(), try context(of: 0))
        for number in 0..<size { _ = store.receive(fields: [Array("c\(number)=1234567890".utf8)], from: context) }
        for _ in 0..<times { try expect(store.field(for: context)) }
    }

    private var without: CookieLimits { CookieLimits(inDomain: .max / 16, inAll: .max / 16, crowd: .max / 16) }

    private func filled(_ numbers: Range<Int>, _ store: CookieStore) throws -> CookieStore {
        for number in numbers {
            let field = Array("c\(number)=1234567890; Path=/; Max-Age=86400".utf8)
            _ = store.receive(fields: [field], from: try context(of: number))
        }
        return store
    }

    /// A request to the host of a cookie.
    private func context(of number: Int) throws -> CookieContext {
        let host = "h\(number / Self.perHost).example.org"
        guard let place = CookiePlace(scheme: "https", host: host, port: nil, path: "/a/b") else {
            throw HarnessError("\(host) is no place for cookies")
        }
        return CookieContext(place)
    }

    private func expect(_ field: String?) throws {
        if field == nil { throw HarnessError("cookies were not sent") }
    }
}
