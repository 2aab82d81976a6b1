// The list of what is asked about growth, in the order of the page.

import Foundation

/// All series.
enum GrowthCatalogue {
    static func all(_ farm: ServerFarm) throws -> [GrowthSeries] {
        try connections(farm) + bodies(farm) + fields(farm) + stores(farm)
    }

    // MARK: Connections

    private static func connections(_ farm: ServerFarm) throws -> [GrowthSeries] {
        let sizes = [1, 10, 100, 1_000, 10_000]
        // All n are there at once: the server answers none before the last has asked.
        func together(_ name: String, _ title: String, _ server: Scenario.Place.Server, _ path: String) throws
            -> GrowthSeries
        {
            try requests(farm, name, title, .ofOne, sizes) { size in
                Requests(
                    place: .init(server: server, path: "/\(path)?\(size)"), connections: size, units: max(200, size),
                    growth: size > 1_000 ? 2 : 4)
            }
        }
        return [
            try together("connections-opened", "a GET on one of n new connections at once", .scripted, "gate-close"),
            try together("connections-kept", "a GET on one of n kept connections, all busy", .scripted, "gate"),
            try together("streams", "a GET on one of n streams of one HTTP/2 connection", .scriptedHTTP2, "gate"),
            try requests(farm, "waiting", "a GET among n that wait for six connections", .ofOne, sizes) { size in
                Requests(
                    place: .init(server: .scripted, path: "/small"), connections: 6, tasks: max(6, size),
                    units: max(200, size), growth: size > 1_000 ? 2 : 4)
            },
            part(farm, .poolDials, "the pool's part of opening one of n connections", .ofOne, sizes),
            part(farm, .poolShuffled, "the pool's part where they are ready in any order", .ofOne, sizes),
            part(
                farm, .poolOrigins, "the pool's part of a new origin, where n others keep a connection", .ofOne, sizes),
        ]
    }

    // MARK: Bodies

    private static func bodies(_ farm: ServerFarm) throws -> [GrowthSeries] {
        func body(_ name: String, _ title: String, _ operation: String, _ server: Scenario.Place.Server, most: Int)
            throws
            -> GrowthSeries
        {
            let sizes = [0, 1 << 10, 32 << 10, 1 << 20, 32 << 20, 1 << 30].filter { $0 <= most }
            return try requests(farm, name, title, .ofAll, sizes) { size in
                Requests(
                    operation: operation, place: .init(server: server, path: "/generated?\(size)"),
                    units: min(200, max(1, (32 << 20) / max(1, size))), growth: size > 1 << 20 ? 2 : 4)
            }
        }
        return [
            try body("body-streamed", "a byte of a body that a delegate counts", "download", .scripted, most: 1 << 30),
            try body("body-whole", "a byte of a body that comes as one Data", "get", .scripted, most: 1 << 30),
            try body(
                "body-streamed-http2", "a byte of a body that a delegate counts, HTTP/2", "download", .scriptedHTTP2,
                most: 32 << 20),
        ]
    }

    // MARK: Header fields

    private static func fields(_ farm: ServerFarm) throws -> [GrowthSeries] {
        // One field each answer has by itself; a request has five, and no more than 1,000 are taken.
        let sizes = [1, 10, 100, 1_000]
        func answer(
            _ name: String, _ title: String, _ server: Scenario.Place.Server, _ path: String, reads: Bool = false
        )
            throws -> GrowthSeries
        {
            try requests(farm, name, title, .ofAll, sizes) { size in
                Requests(
                    place: .init(server: server, path: "/\(path)?\(size)"), units: size > 100 ? 50 : 200, growth: 4,
                    options: reads ? ["--read-fields"] : [])
            }
        }
        return [
            try answer("fields-received", "a header field of an answer", .scripted, "headed"),
            try answer("fields-received-http2", "a header field of an answer, HTTP/2", .scriptedHTTP2, "headed"),
            try answer(
                "fields-read", "a header field of an answer, and reading allHeaderFields", .scripted, "headed",
                reads: true),
            try answer(
                "fields-repeated", "a header field of one name with all others, and reading allHeaderFields", .scripted,
                "repeated", reads: true),
            try requests(farm, "fields-sent", "a header field of a request", .ofAll, [1, 10, 100, 900]) { size in
                Requests(
                    place: .init(server: .scripted, path: "/small"), units: size > 100 ? 50 : 200, growth: 4,
                    options: ["--fields", "\(size)"])
            },
        ]
    }

    // MARK: Cookies and caches

    private static func stores(_ farm: ServerFarm) -> [GrowthSeries] {
        let cookies = [10, 100, 1_000, 10_000]
        let answers = [100, 1_000, 10_000, 100_000]
        func part(_ part: GrowthPart, _ title: String, _ cost: GrowthSeries.Cost, _ sizes: [Int]) -> GrowthSeries {
            Self.part(farm, part, title, cost, sizes)
        }
        return [
            part(.cookiesStored, "a cookie that is taken, to be one of n", .ofOne, cookies),
            part(.cookiesSent, "the cookies of a request, among n of other hosts", .ofOne, cookies),
            part(
                .cookiesPushedOut, "a cookie that is taken after n, of which 3,300 stay", .ofOne,
                [4_000, 10_000, 40_000]),
            part(.cookiesOfDomain, "the cookies of a request to a domain with n", .ofAll, [1, 10, 100, 180]),
            part(.cacheStored, "an answer put into a cache in memory, to be one of n", .ofOne, answers),
            part(.cacheFound, "an answer found in memory among n", .ofOne, answers),
            part(.cacheFull, "an answer put into a full cache in memory of n", .ofOne, answers),
            part(.diskStored, "an answer stored on disk, to be one of n", .ofOne, answers),
            part(.diskFound, "an answer found on disk among n", .ofOne, answers),
            part(.diskOpened, "opening a cache on disk, for each of n answers", .ofAll, answers),
        ]
    }

    // MARK: Making them

    /// What this library's client is asked for at one size.
    private struct Requests {
        var operation = "get"
        let place: Scenario.Place
        var connections = 1
        var tasks: Int?
        let units: Int
        let growth: Int
        var options: [String] = []
    }

    private static func requests(
        _ farm: ServerFarm, _ name: String, _ title: String, _ cost: GrowthSeries.Cost, _ sizes: [Int],
        at requests: @escaping (Int) -> Requests
    ) throws -> GrowthSeries {
        let client = try Contestant.client()
        return GrowthSeries(name: name, title: title, cost: cost, sizes: sizes) { size in
            let asked = requests(size)
            return CountedWork(name: name, program: client.program, units: asked.units, growth: asked.growth) { count in
                let scenario = Scenario(
                    name: name, title: title, operation: asked.operation, place: asked.place,
                    connections: asked.connections, tasks: asked.tasks, amount: .requests(count))
                return farm.arguments(for: scenario, client) + asked.options
            }
        }
    }

    private static func part(
        _ farm: ServerFarm, _ part: GrowthPart, _ title: String, _ cost: GrowthSeries.Cost, _ sizes: [Int]
    ) -> GrowthSeries {
        GrowthSeries(name: part.rawValue, title: title, cost: cost, sizes: sizes) { size in
            let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            return CountedWork(name: part.rawValue, program: program, units: part.units(size: size)) { count in
                let directory = part.needsDisk ? try filledDirectory(farm, part, size, by: program) : "-"
                return ["growth", "part", part.rawValue, "\(size)", "\(count)", directory]
            }
        }
    }

    /// A directory with so many stored answers: a new one for each run of a part that adds to it,
    /// one for all runs of others.
    private static func filledDirectory(
        _ farm: ServerFarm, _ part: GrowthPart, _ size: Int, by program: String
    ) throws -> String {
        let name = part.addsToDisk ? "cache-added-to" : "cache-\(size)"
        let directory = farm.directory.appendingPathComponent(name).path
        if FileManager.default.fileExists(atPath: directory) {
            if !part.addsToDisk { return directory }
            try FileManager.default.removeItem(atPath: directory)
        }
        let words = ["growth", "part", GrowthPart.diskFilled.rawValue, "\(size)", "0", directory]
        let outcome = try ChildProcess.run(program, words)
        guard outcome.status == 0 else { throw HarnessError("no cache could be filled: \(outcome.complaints)") }
        return directory
    }
}
