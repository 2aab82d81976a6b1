// What expectations of large collections are made with.

import Foundation
import Testing
import URLLoadingTestSupport

@Suite("First difference")
struct FirstDifferenceTests {
    @Test("Collections with equal elements do not differ, whatever their types are")
    func same() {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        #expect(firstDifference(bytes, Data(bytes)) == nil)
        #expect(firstDifference(([7] + bytes)[1...], Data([7] + bytes).dropFirst()) == nil)
        #expect(firstDifference(bytes, bytes.lazy.map { $0 }) == nil)
        #expect(firstDifference(["a", "b"], ["a", "b"]) == nil)
        #expect(firstDifference([UInt8](), Data()) == nil)
    }

    @Test("Every place is found, in bytes that lie together and in those that do not")
    func everyPlace() {
        let bytes = (0..<100).map { UInt8($0) }
        for place in bytes.indices {
            var other = bytes
            other[place] = 200
            if place % 3 == 0 { other[99] = 200 }
            for found in [
                firstDifference(bytes, Data(other)), firstDifference(bytes, other.lazy.map { $0 }),
                firstDifference(bytes.map { Int($0) }, other.map { Int($0) }),
            ] {
                #expect(found?.position == place)
                #expect(found.map { "\($0)" } == "at \(place): \(place) and 200, of 100 and 100")
            }
        }
    }

    @Test("One that ends before the other differs there")
    func ends() {
        let all = [UInt8](repeating: 7, count: 9)
        #expect(firstDifference(all, all[..<4]).map { "\($0)" } == "at 4: 7 and the end, of 9 and 4")
        #expect(firstDifference(Data(), all).map { "\($0)" } == "at 0: the end and 7, of 0 and 9")
        #expect(firstDifference(["a"], ["a", "b"]).map { "\($0)" } == "at 1: the end and b, of 1 and 2")
    }

    @Test("An element that is long is cut")
    func long() {
        let found = firstDifference([[UInt8](repeating: 7, count: 1000)], [[1]])
        #expect((found?.description.utf8.count ?? 0) < 200)
    }
}
