// The credential that Apple's API has no word for, because its systems show a user's ticket without being told to.

extension URLCredential {
    /// Ours: the Kerberos ticket of the user who runs the program, as `kinit` gets it. With this a delegate answers a
    /// challenge of the method `NSURLAuthenticationMethodNegotiate`, whose `protectionSpace` names the host that would
    /// see it; to other methods it is no credential. Hosts that shall see it without a question stand in
    /// `URLSessionConfiguration.negotiateHosts`.
    public static var kerberosTicket: URLCredential { ticket }
}
