// What a coded body may come to, by numbers of any size.

import Testing
import URLLoadingWire

@Suite("Decoding limits")
struct DecodingLimitsTests {
    @Test("B16.60: so many bytes and no more; negative numbers count as none")
    func bytes() {
        #expect(DecodingLimits().fault(decoded: .max, coded: 0) == nil)
        let limits = DecodingLimits(bytes: 10)
        #expect(limits.fault(decoded: 10, coded: 0) == nil)
        #expect(limits.fault(decoded: 11, coded: .max) == .decodedTooLong(reached: 11, limit: 10))
        #expect(DecodingLimits(bytes: .min).fault(decoded: 0, coded: 0) == nil)
        #expect(DecodingLimits(bytes: .min).fault(decoded: 1, coded: 1) == .decodedTooLong(reached: 1, limit: 0))
        #expect(DecodingLimits(bytes: .max).fault(decoded: .max, coded: 0) == nil)
    }

    @Test("B16.75: so many bytes for each, behind what is free; numbers below 1 count as 1")
    func ratio() {
        let limits = DecodingLimits(ratio: 3, bytesWithoutRatio: 100)
        #expect(limits.fault(decoded: 100, coded: 0) == nil)
        #expect(limits.fault(decoded: 101, coded: 34) == nil)
        #expect(limits.fault(decoded: 103, coded: 34) == .decodedTooMuch(reached: 103, coded: 34, ratio: 3))
        for low in [0, -1, .min] as [Int64] {
            #expect(DecodingLimits(ratio: low).fault(decoded: 7, coded: 7) == nil)
            let fault = DecodingLimits(ratio: low).fault(decoded: 8, coded: 7)
            #expect(fault == .decodedTooMuch(reached: 8, coded: 7, ratio: 1))
        }
    }

    @Test("B16.75: products that no number holds are within the limits")
    func overflow() {
        #expect(DecodingLimits(ratio: .max).fault(decoded: .max, coded: 2) == nil)
        #expect(DecodingLimits(ratio: 1 << 32).fault(decoded: .max, coded: 1 << 32) == nil)
        #expect(DecodingLimits(ratio: .max).fault(decoded: 1, coded: 0) != nil)
    }

    @Test("B16.60: of both limits the one in bytes is told")
    func both() {
        let limits = DecodingLimits(bytes: 10, ratio: 1)
        #expect(limits.fault(decoded: 11, coded: 1) == .decodedTooLong(reached: 11, limit: 10))
        #expect(limits.fault(decoded: 9, coded: 1) == .decodedTooMuch(reached: 9, coded: 1, ratio: 1))
    }
}
