// A line of things that are served in the order in which they came. Taking the first costs the same however many wait.

/// A line, first in, first out.
struct CallLine<Element: Sendable>: Sendable {
    private var elements: [Element?] = []
    private var head = 0

    /// Whether nothing waits.
    var isEmpty: Bool { head == elements.count }

    /// How many wait.
    var count: Int { elements.count - head }

    /// The first in line.
    var first: Element? { isEmpty ? nil : elements[head] }

    /// Joins the line at its end.
    mutating func append(_ element: Element) { elements.append(element) }

    /// Takes the first out.
    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        defer {
            // What was taken is dropped at once, its place when half of all places are empty.
            elements[head] = nil
            head += 1
            if head == elements.count {
                elements.removeAll(keepingCapacity: true)
                head = 0
            } else if head >= 32, head * 2 >= elements.count {
                elements.removeFirst(head)
                head = 0
            }
        }
        return elements[head]
    }

    /// Forgets all.
    mutating func removeAll() { self = CallLine() }
}
