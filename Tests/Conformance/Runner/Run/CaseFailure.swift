// Why a case did not pass.

/// What ended a case before its end.
struct CaseFailure: Error {
    /// Whether the driver said that it cannot do what the case asks for.
    let isUnsupported: Bool
    let reason: String

    /// Something was not as expected, or could not be carried out.
    init(_ reason: String) {
        self.reason = reason
        isUnsupported = false
    }

    /// The driver under test cannot do this.
    init(unsupported reason: String) {
        self.reason = reason
        isUnsupported = true
    }
}
