import Testing
import URLLoadingPolicy

@testable import URLLoadingEngine

@Suite struct TicketStoreTests {
    private func key(_ host: String, judge: ConnectionJudge = .session) throws -> TicketKey {
        .origin(PoolKey(origin: try #require(Origin(scheme: .https, host: host)), judge: judge))
    }

    @Test("Equal keys have one list, others have others")
    func oneForEach() throws {
        let store = TicketStore()
        let first = try store.list(of: key("a.test"))
        #expect(try store.list(of: key("a.test")) === first)
        #expect(try store.list(of: key("b.test")) !== first)
        #expect(try store.list(of: key("a.test", judge: .delegate(1))) !== first)
    }

    @Test("The list that was asked for longest ago makes room, and is not found again")
    func bounded() throws {
        let store = TicketStore(most: 2)
        let first = try store.list(of: key("a.test"))
        let second = try store.list(of: key("b.test"))
        #expect(try store.list(of: key("a.test")) === first)
        let third = try store.list(of: key("c.test"))
        #expect(try store.list(of: key("a.test")) === first)
        #expect(try store.list(of: key("c.test")) === third)
        #expect(try store.list(of: key("b.test")) !== second)
    }

    @Test("Lists that are forgotten are others when they are asked for again")
    func forgotten() throws {
        let store = TicketStore()
        let first = try store.list(of: key("a.test"))
        store.removeAll()
        #expect(try store.list(of: key("a.test")) !== first)
    }
}
