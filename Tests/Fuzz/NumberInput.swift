// Numbers of an input of the fuzzer, for targets that are about arithmetic.

/// Bytes that are read as choices and numbers.
struct NumberInput {
    private(set) var rest: [UInt8]

    init(_ bytes: [UInt8]) { rest = bytes.reversed() }

    var isEmpty: Bool { rest.isEmpty }

    mutating func choose(below bound: UInt8) -> Int { rest.popLast().map { Int($0 % bound) } ?? 0 }

    /// A number: often one at the end of what there is, where sums overflow, or a small one.
    mutating func number() -> Int64 {
        let near = Int64(choose(below: 64))
        switch choose(below: 5) {
        case 0: return near
        case 1: return .max - near
        case 2: return -near
        case 3: return .min + near
        default: return (0..<8).reduce(0) { number, _ in number << 8 | Int64(rest.popLast() ?? 0) }
        }
    }

    /// A number that is not below zero, or none.
    mutating func known() -> Int64? {
        let number = number()
        return number >= 0 ? number : nil
    }
}
