// The objects behind the numbers of a pool's connections. An array by place, not a dictionary: where each connection
// carries one request, four hashed steps were a tenth of its instructions.
//
// Must not know: what the pool decides, and why.

import URLLoadingPolicy

/// Connections of one pool, being opened or open.
struct ConnectionTable {
    private enum Occupant {
        case none
        case opening(Connector)
        case open(Connection)
    }

    private var places: [Occupant] = []
    private var count = 0

    /// Nothing is open and nothing is being opened.
    var isEmpty: Bool { count == 0 }

    /// The open ones.
    var connections: some Sequence<Connection> {
        places.lazy.compactMap { if case .open(let connection) = $0 { connection } else { nil } }
    }

    /// An open connection.
    func connection(_ id: ConnectionID) -> Connection? {
        let place = PoolMachine.place(of: id)
        guard places.indices.contains(place), case .open(let connection) = places[place], connection.id == id else {
            return nil
        }
        return connection
    }

    /// An attempt under way.
    func connector(_ id: ConnectionID) -> Connector? {
        let place = PoolMachine.place(of: id)
        guard places.indices.contains(place), case .opening(let connector) = places[place],
            connector.name == .pooled(id)
        else {
            return nil
        }
        return connector
    }

    /// Notes an attempt.
    mutating func add(_ connector: Connector, _ id: ConnectionID) {
        let place = PoolMachine.place(of: id)
        while places.count <= place { places.append(.none) }
        if case .none = places[place] { count += 1 }
        places[place] = .opening(connector)
    }

    /// Puts the connection in the place of the attempt that has opened it.
    mutating func opened(_ connection: Connection) {
        let place = PoolMachine.place(of: connection.id)
        guard places.indices.contains(place) else { return }
        if case .none = places[place] { count += 1 }
        places[place] = .open(connection)
    }

    /// Forgets an attempt and hands it out.
    mutating func removeConnector(_ id: ConnectionID) -> Connector? {
        guard let connector = connector(id) else { return nil }
        places[PoolMachine.place(of: id)] = .none
        count -= 1
        return connector
    }

    /// Forgets a connection; `false` if it is not here.
    mutating func remove(_ connection: Connection) -> Bool {
        let place = PoolMachine.place(of: connection.id)
        guard places.indices.contains(place), case .open(let known) = places[place], known === connection else {
            return false
        }
        places[place] = .none
        count -= 1
        return true
    }
}
