// What the program sees of a task, as the task itself holds it.
//
// Must not know: what tasks do, when one has ended.

/// The object that the program sees of a task.
enum TaskFace: Sendable {
    /// It has not been made, or was let go of with the end.
    case none
    /// The task keeps it, and with it itself, until it has ended.
    case kept(URLSessionTask)
    /// The program alone keeps it.
    indirect case loose(Reference)

    /// An object that may be gone.
    struct Reference: Sendable {
        weak var object: URLSessionTask?
    }

    /// The object, where there is one.
    var object: URLSessionTask? {
        switch self {
        case .none: nil
        case .kept(let object): object
        case .loose(let reference): reference.object
        }
    }
}
