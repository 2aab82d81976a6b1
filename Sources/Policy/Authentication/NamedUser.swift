// The user that a request's URL names: with no other user's proof does the request go out unasked. Behaviour B2.77. It
// must not know URLs.

/// A user's name, and the password where that is named too.
package struct NamedUser: Sendable, Concealed {
    private let user: String
    private let password: String?

    /// Names a user.
    package init(user: String, password: String?) {
        self.user = user
        self.password = password
    }

    /// Whether a credential is this user's.
    func owns(_ credential: PasswordCredential?) -> Bool {
        guard let credential, credential.user == user else { return false }
        return password == nil || password == credential.password
    }
}
