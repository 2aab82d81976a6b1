// Credentials that go out before a server has asked for them. Ours: Apple's loader waits for the first 401 (B2.72).

import Foundation

extension URLSessionConfiguration {
    /// Ours: the credentials for servers that need not ask: their first request bears `Authorization: Basic`, without
    /// the round of a 401. Empty, the default, waits for the challenge.
    ///
    /// ```swift
    /// configuration.basicCredentialsSentAhead = [
    ///     URL(string: "https://api.example/v1/")!: URLCredential(user: "me", password: "secret", persistence: .none)
    /// ]
    /// ```
    ///
    /// A credential goes to the scheme, host and port of its URL, for paths at and below the URL's directory (RFC 7617
    /// §2.2), and where several URLs cover a path the deepest counts. It goes nowhere else, whatever redirects say, and
    /// not with a request whose URL names another user. A field `Authorization` of the request's own goes out instead.
    /// Where a server refuses the credential it is not sent ahead any more, the delegate is asked as about any other
    /// refusal, and what the server accepts then is sent ahead (B2.77). `URLSession.reset` begins anew with these.
    ///
    /// Only `https` URLs count, unless `dangerouslySendsBasicAheadInClear` is set. Without effect are URLs of other
    /// schemes and without a host, and credentials that are no user and password, or whose user has a colon.
    /// A background session that has it carries its transfers in the program itself.
    public var basicCredentialsSentAhead: [URL: URLCredential] {
        get { value(\.basicCredentialsSentAhead) }
        set { assign(\.basicCredentialsSentAhead, newValue) }
    }

    /// Ours: whether `http` URLs of `basicCredentialsSentAhead` count. The password can then be read on its way; false
    /// unless set.
    public var dangerouslySendsBasicAheadInClear: Bool {
        get { value(\.dangerouslySendsBasicAheadInClear) }
        set { assign(\.dangerouslySendsBasicAheadInClear, newValue) }
    }
}
