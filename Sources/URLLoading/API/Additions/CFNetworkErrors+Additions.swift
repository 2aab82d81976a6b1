// The codes of CFNetwork that stand under errors about proxies and of FTP servers. Apple's enumeration has more; those
// that repeat the codes of `URLError` are left out.

import Foundation

/// The domain of underlying errors whose codes are `CFNetworkErrors`.
public nonisolated(unsafe) let kCFErrorDomainCFNetwork: CFString = "kCFErrorDomainCFNetwork"

/// What was wrong with a proxy, or with finding one, or with what an FTP server said.
public enum CFNetworkErrors: Int32, Sendable {
    /// The proxy does not speak the version of SOCKS that it was spoken to in.
    case cfsocksErrorUnsupportedServerVersion = 101
    /// A SOCKS4 proxy rejected the connection, or failed to make it.
    case cfsocks4ErrorRequestFailed = 110
    /// A SOCKS4 proxy cannot reach identd on this machine.
    case cfsocks4ErrorIdentdFailed = 111
    /// A SOCKS4 proxy has heard of another user from identd.
    case cfsocks4ErrorIdConflict = 112
    /// A SOCKS4 proxy answered with a code that has no meaning.
    case cfsocks4ErrorUnknownStatusCode = 113
    /// A SOCKS5 proxy did not make the connection.
    case cfsocks5ErrorBadState = 120
    /// A SOCKS5 proxy cannot be told the host.
    case cfsocks5ErrorBadResponseAddr = 121
    /// A SOCKS5 proxy does not accept the user name and password.
    case cfsocks5ErrorBadCredentials = 122
    /// A SOCKS5 proxy accepts no way of authentication that was offered.
    case cfsocks5ErrorNoAcceptableMethod = 124
    /// An FTP server said no, or something that makes no sense; the description has the number of its reply.
    case cfftpErrorUnexpectedStatusCode = 200
    /// The proxy for an http URL cannot be reached.
    case cfErrorHTTPProxyConnectionFailure = 306
    /// A proxy script (PAC) is configured and no `proxyResolver` of the program, or its answer is of no use (B13.30).
    case cfErrorPACFileError = 308
    /// The proxy for an https URL cannot be reached.
    case cfErrorHTTPSProxyConnectionFailure = 310
    /// The proxy answered CONNECT with something other than success; the status, if there was one, is under
    /// `URLLoadingErrorDomain.proxyStatusKey`.
    case cfStreamErrorHTTPSProxyFailureUnexpectedResponseToCONNECTMethod = 311
}
