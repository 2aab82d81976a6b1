// Apple's names for the ways to authenticate and for the values of a protection space's protocol and proxy type.

/// The default method; for http it is Basic (B2.25).
public let NSURLAuthenticationMethodDefault = "NSURLAuthenticationMethodDefault"

/// Basic authentication (RFC 7617).
public let NSURLAuthenticationMethodHTTPBasic = "NSURLAuthenticationMethodHTTPBasic"

/// Digest authentication (RFC 7616).
public let NSURLAuthenticationMethodHTTPDigest = "NSURLAuthenticationMethodHTTPDigest"

/// A form on a page, which programs fill in themselves.
public let NSURLAuthenticationMethodHTMLForm = "NSURLAuthenticationMethodHTMLForm"

/// Microsoft's NTLM, which authenticates a connection.
public let NSURLAuthenticationMethodNTLM = "NSURLAuthenticationMethodNTLM"

/// SPNEGO (RFC 4559): the user's Kerberos ticket, which `URLCredential.kerberosTicket` stands for.
public let NSURLAuthenticationMethodNegotiate = "NSURLAuthenticationMethodNegotiate"

/// The server asks for our certificate.
public let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"

/// The server has shown its certificate.
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"

/// The protocol of a space on an http server.
public let NSURLProtectionSpaceHTTP = "http"

/// The protocol of a space on an https server.
public let NSURLProtectionSpaceHTTPS = "https"

/// The protocol of a space on an FTP server.
public let NSURLProtectionSpaceFTP = "ftp"

/// The type of a proxy for http.
public let NSURLProtectionSpaceHTTPProxy = "http"

/// The type of a proxy for https.
public let NSURLProtectionSpaceHTTPSProxy = "https"

/// The type of a proxy for FTP.
public let NSURLProtectionSpaceFTPProxy = "ftp"

/// The type of a SOCKS proxy.
public let NSURLProtectionSpaceSOCKSProxy = "SOCKS"
