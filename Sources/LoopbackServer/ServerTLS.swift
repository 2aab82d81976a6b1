// The server's side of TLS, as tests choose it.

import URLLoadingTLS

/// How a server speaks TLS: its identity, versions, ALPN, tickets and whether it wants a certificate of the client.
package typealias ServerTLS = TLSServerOptions
