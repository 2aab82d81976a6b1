// What the options say of a body, before anything of it is read.

/// The body of a request.
package enum RequestBody: Sendable, Equatable {
    case none
    /// Pieces joined by `&`, sent as a form unless a field says otherwise.
    case form([BodyPiece])
    /// Pieces one after the other, sent as JSON.
    case json([BodyPiece])
    /// The members of one object, sent as JSON.
    case object([JSONMember])
    /// Parts of a multipart form.
    case multipart([FormPart])
    /// A file, or standard input for `-`, sent as it is.
    case upload(String)
}

/// One option's part of a body.
package enum BodyPiece: Sendable, Equatable {
    case text(String)
    /// A file, or standard input for `-`; without its line ends unless they are kept.
    case file(String, keepsLines: Bool)
    /// What is encoded as forms are, behind a name that is not.
    case encoded(name: String?, BodySource)
}

/// A text, or where one is read.
package enum BodySource: Sendable, Equatable {
    case text(String)
    /// A file, or standard input for `-`.
    case file(String)
}
