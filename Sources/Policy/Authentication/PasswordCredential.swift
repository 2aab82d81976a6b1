// A user name and a password, kept out of everything that prints.

/// A user name and a password.
///
/// RFC 7616 §4 and RFC 7617 §2.1 want both in Unicode's form C. That takes tables that only Foundation has here, so
/// the code that makes a credential hands over text that is in that form (`precomposedStringWithCanonicalMapping`).
package struct PasswordCredential: Sendable, Equatable, Concealed {
    /// The user name; for NTLM with its domain, as `DOMAIN\user` or `user@domain` (B2.94).
    package let user: String
    /// The password.
    package let password: String

    /// Makes a credential of text in form C.
    package init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}
