// A key of connections as the pool knows it: a row of `PoolRecords`, which alone changes it.

/// One key, for as long as it has connections or waiting requests.
struct PooledKey {
    /// Connections of one key in one state.
    struct List {
        var newest = PoolRecords.none
        var oldest = PoolRecords.none
        var count = 0
    }

    var key: PoolKey
    let host: Int
    /// Neighbours among the keys of the same host.
    var next = PoolRecords.none
    var previous = PoolRecords.none
    /// In any state.
    var connections = 0
    var idle = List()
    var available = List()
    var dialling = List()
    /// How many of its connections are shared, and serve new requests.
    var shared = 0
    /// Whether its server chose a protocol whose connections are shared when it was last asked:
    /// one dial is then for all.
    var expectsShared: Bool
    var line = WaiterLine(.all)
    var undialled = WaiterLine(.undialled)
    var waiting = 0
    /// How many of the waiting accept only a new connection.
    var waitingForNew = 0

    /// Waiting requests that have a dial.
    var paired = 0
    /// Dials that have a waiting request.
    var attended = 0

    /// Dials that wait for an answer about their peer.
    var asking = 0
    /// When all dials last waited for answers.
    var lastStandstill: Duration?

    /// Waiting requests without a dial.
    var unmet: Int { waiting - paired }
    /// Whether everything that is under way waits for answers.
    var standsStill: Bool { asking > 0 && asking == dialling.count }
    /// Dials without a waiting request: it was served by a connection that became free sooner.
    var surplusDials: Int { dialling.count - attended }
}
