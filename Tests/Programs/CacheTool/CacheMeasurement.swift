// How long a look-up takes among many entries, in memory and on disk, beside reading the same file plainly; and how
// long it takes until a cache with many files knows what it has. Medians; to be run in a release build.

import Foundation
import URLLoading

/// A measurement in a directory of its own.
struct CacheMeasurement {
    let directory: String
    let count: Int

    func run() {
        let place = URL(filePath: directory, directoryHint: .isDirectory)
        let requests = (0..<count).map { SampleEntry.request($0) }
        var order = Array(0..<count)
        order.shuffle()

        let memory = URLCache(memoryCapacity: .max / 2, diskCapacity: 0, directory: place)
        fill(memory, requests)
        let found = medianNanoseconds(order) { memory.cachedResponse(for: requests[$0]) != nil }
        report("look-up in memory", found)

        let disk = URLCache(memoryCapacity: 0, diskCapacity: .max / 2, directory: place)
        report("storing on disk", totalNanoseconds { fill(disk, requests) } / Double(count))
        let openings = medianNanoseconds(Array(0..<7)) { _ in
            URLCache(memoryCapacity: 0, diskCapacity: .max / 2, directory: place).currentDiskUsage > 0
        }
        report("opening and counting", openings)
        let reopened = URLCache(memoryCapacity: 0, diskCapacity: .max / 2, directory: place)
        let some = Array(order.prefix(10_000))
        report("look-up on disk", medianNanoseconds(some) { reopened.cachedResponse(for: requests[$0]) != nil })
        let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        let paths = files.filter { $0.utf8.count == 32 }.prefix(10_000).map { directory + "/" + $0 }
        report("plain reading of a file", medianNanoseconds(Array(paths.indices)) { plainRead(paths[$0]) })
    }

    private func fill(_ cache: URLCache, _ requests: [URLRequest]) {
        let body = Data(repeating: 0x78, count: 1024)
        for request in requests {
            guard let url = request.url,
                let response = HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: nil,
                    headerFields: ["Cache-Control": "max-age=3600", "Content-Type": "text/plain", "ETag": "\"v\""])
            else { continue }
            cache.storeCachedResponse(CachedURLResponse(response: response, data: body), for: request)
        }
    }

    private func plainRead(_ path: String) -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var about = stat()
        fstat(file, &about)
        var buffer = [UInt8](repeating: 0, count: Int(about.st_size))
        return read(file, &buffer, buffer.count) == buffer.count
    }

    private func medianNanoseconds(_ order: [Int], _ step: (Int) -> Bool) -> Double {
        var times: [Double] = []
        times.reserveCapacity(order.count)
        for index in order {
            var isFound = false
            times.append(totalNanoseconds { isFound = step(index) })
            if !isFound { print("not found: \(index)") }
        }
        times.sort()
        return times.isEmpty ? 0 : times[times.count / 2]
    }

    private func totalNanoseconds(_ body: () -> Void) -> Double {
        let duration = ContinuousClock().measure(body)
        return Double(duration.components.seconds) * 1e9 + Double(duration.components.attoseconds) / 1e9
    }

    private func report(_ what: String, _ nanoseconds: Double) {
        let line = "\(what): \((nanoseconds / 10).rounded() / 100) µs\n"
        FileHandle.standardOutput.write(Data(line.utf8))
    }
}
