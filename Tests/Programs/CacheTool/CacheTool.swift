// A program with a cache on disk, for what only a process of its own can show: what is left when it is killed, and what
// several make of one directory. Bodies tell which they are, so that a torn one is known.

import Foundation
import URLLoading

/// Does one thing with the cache in a directory.
enum CacheTool {
    static func run(_ words: [String]) async {
        switch (words.first, words.count) {
        case ("store", 4): store(words[1], from: Int(words[2]) ?? 0, count: Int(words[3]) ?? 0)
        case ("store-until-killed", 4):
            storeUntilKilled(words[1], from: Int(words[2]) ?? 0, microseconds: UInt64(words[3]) ?? 0)
        case ("hammer", 5):
            exit(hammer(words[1], capacity: Int(words[2]) ?? 0, seed: UInt64(words[3]) ?? 0, count: Int(words[4]) ?? 0))
        case ("kill", 3): exit(CacheTrials(directory: words[1]).kill(rounds: Int(words[2]) ?? 0) ? 0 : 1)
        case ("together", 4):
            let seconds = Double(words[3]) ?? 0
            exit(CacheTrials(directory: words[1]).hammer(processes: Int(words[2]) ?? 0, seconds: seconds) ? 0 : 1)
        case ("hit", 2): exit(await hit(words[1]))
        case ("measure", 3): CacheMeasurement(directory: words[1], count: max(1, Int(words[2]) ?? 0)).run()
        default:
            print("usage: cache store DIRECTORY FIRST COUNT | store-until-killed DIRECTORY FIRST MICROSECONDS")
            print("             | hammer DIRECTORY CAPACITY SEED COUNT | measure DIRECTORY COUNT")
            print("             | kill DIRECTORY ROUNDS | together DIRECTORY PROCESSES SECONDS | hit DIRECTORY")
            exit(64)
        }
    }

    /// A cache in a directory; `-` stands for the one that is used without one.
    private static func cache(_ directory: String, capacity: Int = 64 << 20) -> URLCache {
        URLCache(
            memoryCapacity: 0, diskCapacity: capacity,
            directory: directory == "-" ? nil : URL(filePath: directory, directoryHint: .isDirectory))
    }

    /// Stores entries by the numbers.
    private static func store(_ directory: String, from first: Int, count: Int) {
        let cache = cache(directory)
        for number in first..<(first + count) { SampleEntry.store(number, generation: 0, in: cache) }
    }

    /// Stores entries and says so until the process is killed, which a thread of its own sees to.
    private static func storeUntilKilled(_ directory: String, from first: Int, microseconds: UInt64) {
        let cache = cache(directory)
        SampleEntry.store(first, generation: 0, in: cache)
        say(first)
        Thread.detachNewThread {
            // The moment of death is what is tried here; nothing waits for it.
            var pause = timespec(tv_sec: 0, tv_nsec: Int(microseconds) * 1000)
            nanosleep(&pause, nil)
            kill(getpid(), SIGKILL)
        }
        for number in (first + 1)... {
            SampleEntry.store(number % 40, generation: number, in: cache)
            say(number)
        }
    }

    /// Loads a stored entry with sessions that find it on disk and in memory; 1 where a loop's
    /// thread was needed for it.
    private static func hit(_ directory: String) async -> Int32 {
        SampleEntry.store(1, generation: 1, in: cache(directory))
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = URLCache(
            memoryCapacity: 1 << 20, diskCapacity: 64 << 20,
            directory: URL(filePath: directory, directoryHint: .isDirectory))
        configuration.requestCachePolicy = .returnCacheDataElseLoad
        let session = URLSession(configuration: configuration)
        for _ in 0..<2 {
            guard let body = try? await session.data(for: SampleEntry.request(1)).0,
                body == SampleEntry.body(1, generation: 1)
            else { return 1 }
        }
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        let names = threads.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
        print(names.filter { $0.hasPrefix("urlloading") }.count)
        return names.isEmpty || names.contains { $0.hasPrefix("urlloading") } ? 1 : 0
    }

    /// Says, in one call of the system, that an entry is stored.
    private static func say(_ number: Int) {
        let line = Array("\(number)\n".utf8)
        _ = line.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    }

    /// Stores, reads and removes at random; 1 as soon as something read is not what was stored.
    private static func hammer(_ directory: String, capacity: Int, seed: UInt64, count: Int) -> Int32 {
        let cache = cache(directory, capacity: capacity)
        var state = seed
        var found = 0
        for step in 0..<count {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let number = Int(state >> 33) % 60
            switch state >> 60 {
            case 0...6: SampleEntry.store(number, generation: step, in: cache)
            case 7: cache.removeCachedResponse(for: SampleEntry.request(number))
            case 8 where step % 50 == 0: cache.removeAllCachedResponses()
            default:
                guard let cached = cache.cachedResponse(for: SampleEntry.request(number)) else { continue }
                found += 1
                guard SampleEntry.isWhole(cached, number) else {
                    print("torn: \(number)")
                    return 1
                }
            }
            if step % 100 == 0, cache.currentDiskUsage > capacity {
                print("too much: \(cache.currentDiskUsage)")
                return 1
            }
        }
        print(found)
        return 0
    }
}

/// An entry whose body tells its number and generation on each line.
enum SampleEntry {
    static func url(_ number: Int) -> String { "http://h.example/\(number)" }

    static func request(_ number: Int) -> URLRequest {
        URLRequest(url: URL(string: url(number)) ?? URL(filePath: "/"))
    }

    /// Bodies of a few bytes up to a few hundred kilobytes.
    static func body(_ number: Int, generation: Int) -> Data {
        let lines = 1 << (number % 14)
        return Data(String(repeating: "\(number) \(generation)\n", count: lines).utf8)
    }

    static func store(_ number: Int, generation: Int, in cache: URLCache) {
        let request = request(number)
        guard let url = request.url,
            let response = HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: nil, headerFields: ["X-Generation": "\(generation)"])
        else { return }
        cache.storeCachedResponse(
            CachedURLResponse(response: response, data: body(number, generation: generation)), for: request)
    }

    /// Whether a response is one that `store` has stored under the number.
    static func isWhole(_ cached: CachedURLResponse, _ number: Int) -> Bool {
        guard let response = cached.response as? HTTPURLResponse, response.url?.absoluteString == url(number),
            let generation = response.value(forHTTPHeaderField: "X-Generation").flatMap({ Int($0) })
        else { return false }
        return cached.data == body(number, generation: generation)
    }
}
