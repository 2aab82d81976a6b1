// Who the user is to a server, and how that is shown.

/// A user, and a password unless it has to be asked for. Prints neither.
package struct Login: Sendable, Equatable, CustomStringConvertible {
    /// The user.
    package var name: String
    /// Nil where it has to be asked for.
    package var password: String?

    /// A login as it is.
    package init(name: String, password: String?) {
        self.name = name
        self.password = password
    }

    /// Nothing of what it holds.
    package var description: String { "a login" }
}

/// In which way a password is shown.
package enum LoginMethod: Sendable, Equatable {
    /// Whatever the server asks for, and not before.
    case asked
    /// As it is, with the first request.
    case basic
    case digest
    case ntlm
}

/// Which file of logins is read.
package enum NetrcPlace: Sendable, Equatable {
    /// `.netrc` in the user's home.
    case home
    /// `.netrc` in the user's home, if there is one.
    case homeIfThere
    case file(String)
}
