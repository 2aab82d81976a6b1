// Why a command is not carried out. Driver protocol, section 1.

/// The reason for an answer with `"ok":false`.
enum Refusal: Error, Equatable {
    /// The driver cannot honour an operation, a key or a value.
    case unsupported(String)
    /// The command is not what the protocol asks for.
    case badCommand(String)
    /// The driver itself failed.
    case `internal`(String)

    /// The value of `problem`.
    var problem: String {
        switch self {
        case .unsupported: "unsupported"
        case .badCommand: "bad_command"
        case .internal: "internal"
        }
    }

    /// The value of `detail`.
    var detail: String {
        switch self {
        case .unsupported(let detail), .badCommand(let detail), .internal(let detail): detail
        }
    }
}
