// Where two collections differ first: for expectations of large bodies, files and lists.
//
// Where `#expect(a == b)` fails, swift-testing looks for the shortest list of changes that makes one of b the other.
// That takes a time that grows by the square of their lengths: 3 s for 20,000 elements, a minute for 80,000, most of
// a day for 3 MB. So a test that ought to fail hangs. What this finds is found in one walk and has a few words,
// which the expectation prints:
//
//     #expect(firstDifference(received, sent) == nil)

import URLLoadingSystem

/// The first place at which two collections differ.
package struct FirstDifference: Sendable, Equatable, CustomStringConvertible {
    /// How many elements before it are equal.
    package let position: Int
    /// What stands there in each of them; nil where one has ended.
    package let elements: (left: String?, right: String?)
    /// How many elements each of them has.
    package let counts: (left: Int, right: Int)

    package var description: String {
        "at \(position): \(elements.left ?? "the end") and \(elements.right ?? "the end"), of \(counts.left) and \(counts.right)"
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.position == right.position && left.elements == right.elements && left.counts == right.counts
    }
}

/// Where two collections differ first; nil where they are equal.
package func firstDifference<Left: Collection, Right: Collection>(
    _ left: Left, _ right: Right
) -> FirstDifference? where Left.Element: Equatable, Right.Element == Left.Element {
    let position = equalBytes(left, right) ?? equalElements(left, right)
    let counts = (left: left.count, right: right.count)
    guard position < max(counts.left, counts.right) else { return nil }
    return FirstDifference(
        position: position, elements: (text(of: left, position), text(of: right, position)), counts: counts)
}

/// How many elements at the beginning are equal.
private func equalElements<Left: Collection, Right: Collection>(
    _ left: Left, _ right: Right
) -> Int where Left.Element: Equatable, Right.Element == Left.Element {
    var count = 0
    for (one, other) in zip(left, right) {
        guard one == other else { break }
        count += 1
    }
    return count
}

/// How many bytes at the beginning are equal; nil for collections that are not bytes in one piece of memory.
///
/// A loop over megabytes takes seconds in a debug build, and far longer under ThreadSanitizer.
private func equalBytes<Left: Collection, Right: Collection>(_ left: Left, _ right: Right) -> Int? {
    guard Left.Element.self == UInt8.self, Right.Element.self == UInt8.self else { return nil }
    let count = left.withContiguousStorageIfAvailable { left in
        right.withContiguousStorageIfAvailable { right in
            equalBytes(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
        }
    }
    return count ?? nil
}

private func equalBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    // So many are certainly equal, and so many may be.
    var (certain, possible) = (0, min(left.count, right.count))
    while certain < possible {
        let middle = (certain + possible + 1) / 2
        guard let one = left.baseAddress, let other = right.baseAddress else { break }
        if memcmp(one + certain, other + certain, middle - certain) == 0 {
            certain = middle
        } else {
            possible = middle - 1
        }
    }
    return certain
}

/// What stands at a position, cut where it is long: an element may itself hold a body.
private func text<Elements: Collection>(of elements: Elements, _ position: Int) -> String? {
    elements.dropFirst(position).first.map { String("\($0)".prefix(80)) }
}
