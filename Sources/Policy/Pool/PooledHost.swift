// A host as the pool knows it: a row of `PoolRecords`, which alone changes it.

/// One host name, for as long as it has keys.
///
/// B16.1 limits connections per host, so keys that differ in scheme, port, route or judge share this row.
struct PooledHost {
    var name: String
    var firstKey = PoolRecords.none
    /// In any state but draining.
    var connections = 0
    /// Waiting requests without a dial, over its keys.
    var unmet = 0
    /// How often in a row a released connection served its own key before an earlier request of another.
    var overtakings = 0
}
