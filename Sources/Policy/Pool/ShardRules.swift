// Which shard of an engine has what. All that may share a connection, or counts against the limit of one host (B16.1),
// belongs to one shard; so no shard needs to know another.
//
// Must not know: loops, threads.

/// How the hosts of an engine are spread over its shards.
package enum ShardRules {
    /// Picked by feel: more loops than most machines have processors.
    package static let most = 64

    /// How many shards there are where so many are wanted (B16.71).
    package static func count(wanted: Int) -> Int { min(max(1, wanted), most) }

    /// The shard of connections to an origin by a route.
    package static func shard(toReach origin: Origin, by route: Route, among count: Int) -> Int {
        shard(of: PoolKey.end(ofWayTo: origin, by: route), among: count)
    }

    /// The shard of connections that lead to this place. It is a matter of the host alone, as the limit is, and in
    /// every run of the program the same.
    package static func shard(of place: Origin, among count: Int) -> Int {
        var host = place.matchingHost
        let hash = host.withUTF8 { SipHash.digest(UnsafeRawBufferPointer($0), key: SipHash.Words(0, 0)) }
        return Int(hash % UInt64(max(1, count)))
    }

    // MARK: Numbers

    /// The number of a shard's first load. Those of all shards differ, so that a number tells whose it is.
    package static func firstNumber(of shard: Int) -> RequestID { shard << numberBits | 1 }

    /// The shard that has given this number.
    package static func shard(of number: RequestID) -> Int { number >> numberBits }

    /// Two bits more than the shards need are left free, one of them the sign.
    private static let numberBits = Int.bitWidth - 8
}
