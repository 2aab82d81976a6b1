// How many bytes of a body are still to come, by what its head declared: for bodies that are received, and for those
// that are sent. It knows no fields and no frames. RFC 9113 §8.1.1.

/// What is left of a body's declared length.
package struct HTTP2DeclaredLength: Sendable, Equatable {
    /// What is left; below zero if nothing was declared.
    private var left: Int64

    private init(left: Int64) { self.left = left }

    /// Nothing was declared; the body ends where it ends.
    package static var unknown: HTTP2DeclaredLength { HTTP2DeclaredLength(left: -1) }

    /// There is no body, whatever `content-length` says: the answer to HEAD, 204, 304 (H4.3).
    package static var none: HTTP2DeclaredLength { HTTP2DeclaredLength(left: 0) }

    /// The body has that many bytes; a number below zero declares nothing.
    package static func bytes(_ count: Int64) -> HTTP2DeclaredLength { HTTP2DeclaredLength(left: max(count, -1)) }

    /// How many bytes may still come.
    package var limit: Int { left < 0 ? .max : Int(clamping: left) }

    /// Whether the body is known to be complete.
    package var isReached: Bool { left == 0 }

    /// Whether the body may end here.
    package var mayEnd: Bool { left <= 0 }

    /// Takes bytes of the body; false, and nothing is changed, if there are more than were declared.
    package mutating func take(_ count: Int) -> Bool {
        guard left >= 0 else { return true }
        guard count <= limit else { return false }
        left -= Int64(count)
        return true
    }
}
