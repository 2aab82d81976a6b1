import Testing
import URLLoadingPolicy

@testable import URLLoadingEngine

@Suite struct TicketStoreTests {
    private func key(_ host: String) throws -> TicketKey {
        .origin(PoolKey(origin: try #require(Origin(scheme: .https, host: host))))
    }

    @Test("Equal keys have one list, others have others")
    func oneForEach() throws {
        let store = TicketStore()
        let first = try store.tickets(of: key("a.test"))
        #expect(try store.tickets(of: key("a.test")) === first)
        #expect(try store.tickets(of: key("b.test")) !== first)
        #expect(store.tickets(of: .transfer(1)) !== store.tickets(of: .transfer(2)))
    }

    @Test("The oldest list without tickets makes room, and is not found again")
    func bounded() throws {
        let store = TicketStore(most: 2)
        let first = try store.tickets(of: key("a.test"))
        let second = try store.tickets(of: key("b.test"))
        _ = try store.tickets(of: key("c.test"))
        #expect(try store.tickets(of: key("b.test")) === second)
        #expect(try store.tickets(of: key("a.test")) !== first)
    }

    @Test("A list that is forgotten is another one when it is asked for again")
    func forgotten() throws {
        let store = TicketStore()
        let origin = try store.tickets(of: key("a.test"))
        let transfer = store.tickets(of: .transfer(1))
        store.forget(where: \.outlivesConnections)
        #expect(try store.tickets(of: key("a.test")) !== origin)
        #expect(store.tickets(of: .transfer(1)) === transfer)
        store.forget(.transfer(1))
        #expect(store.tickets(of: .transfer(1)) !== transfer)
    }
}
