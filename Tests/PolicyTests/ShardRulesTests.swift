import Testing
import URLLoadingPolicy

/// How hosts are spread over the shards of an engine.
@Suite struct ShardRulesTests {
    @Test("B16.71: there is at least one shard, and there are at most 64")
    func counts() {
        #expect(
            [Int.min, -1, 0, 1, 2, 64, 65, .max].map { ShardRules.count(wanted: $0) } == [1, 1, 1, 1, 2, 64, 64, 64])
    }

    @Test("B16.71: whatever counts against the limit of one host is in one shard")
    func oneHost() throws {
        let plain = try #require(Origin(scheme: .http, host: "a.test"))
        let shard = ShardRules.shard(of: plain, among: 64)
        for (scheme, host, port) in [(.https, "A.test", 8443), (.http, "a.test.", 1), (.https, "a.TEST.", 443)]
            as [(Scheme, String, Int)]
        {
            let origin = try #require(Origin(scheme: scheme, host: host, port: port))
            #expect(ShardRules.shard(of: origin, among: 64) == shard)
        }
        let link = try #require(Origin(scheme: .http, host: "fe80::1"))
        let zoned = try #require(Origin(scheme: .http, host: "fe80::1%25eth0"))
        #expect(ShardRules.shard(of: link, among: 64) == ShardRules.shard(of: zoned, among: 64))
    }

    @Test("B16.71: a proxy that forwards is the host, one that tunnels is not")
    func proxies() throws {
        let proxy = try #require(ProxyServer(kind: .http, host: "proxy.test"))
        let place = ShardRules.shard(of: proxy.endpoint, among: 64)
        // Hosts in other shards than the proxy's: whichever they are, so that no more than the rule is tested.
        let others = (0..<8).compactMap { Origin(scheme: .http, host: "h\($0).test") }.filter {
            ShardRules.shard(of: $0, among: 64) != place
        }
        #expect(others.count >= 3)
        for plain in others {
            let direct = ShardRules.shard(of: plain, among: 64)
            #expect(ShardRules.shard(toReach: plain, by: .direct(), among: 64) == direct)
            #expect(ShardRules.shard(toReach: plain, by: .proxied(proxy), among: 64) == place)
            #expect(ShardRules.shard(toReach: plain.secured, by: .proxied(proxy), among: 64) == direct)
        }
    }

    @Test("Hosts that differ little are spread evenly", arguments: [2, 3, 16])
    func spread(_ count: Int) throws {
        for name in [{ "h\($0).test" }, { "10.0.\($0 / 256).\($0 % 256)" }] as [(Int) -> String] {
            var shards = [Int](repeating: 0, count: count)
            for number in 0..<1_024 {
                let origin = try #require(Origin(scheme: .http, host: name(number)))
                shards[ShardRules.shard(of: origin, among: count)] += 1
            }
            for hosts in shards { #expect(hosts > 1_024 / count / 2 && hosts < 1_024 / count * 2) }
        }
    }

    @Test("A load's number tells the shard that has given it")
    func numbers() {
        for shard in 0..<ShardRules.most {
            let first = ShardRules.firstNumber(of: shard)
            #expect(first > 0)
            for number in [first, first + 1, first + 1 << 40] { #expect(ShardRules.shard(of: number) == shard) }
        }
        #expect(ShardRules.firstNumber(of: 0) == 1)
    }
}
