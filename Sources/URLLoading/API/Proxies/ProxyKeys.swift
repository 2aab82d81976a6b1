// Apple's names for the keys of `connectionProxyDictionary` (B13.5). The dictionary may have them as `CFString` or as
// `String`, written out or by these constants.

import Foundation

// Unsafe in name only: these strings never change.

/// Whether http goes through a proxy: a number other than 0.
public nonisolated(unsafe) let kCFNetworkProxiesHTTPEnable: CFString = "HTTPEnable"

/// The host of the proxy for http.
public nonisolated(unsafe) let kCFNetworkProxiesHTTPProxy: CFString = "HTTPProxy"

/// The port of the proxy for http; 80 where there is none.
public nonisolated(unsafe) let kCFNetworkProxiesHTTPPort: CFString = "HTTPPort"

/// Whether https goes through a proxy: a number other than 0.
public nonisolated(unsafe) let kCFNetworkProxiesHTTPSEnable: CFString = "HTTPSEnable"

/// The host of the proxy for https.
public nonisolated(unsafe) let kCFNetworkProxiesHTTPSProxy: CFString = "HTTPSProxy"

/// The port of the proxy for https; 80 where there is none.
public nonisolated(unsafe) let kCFNetworkProxiesHTTPSPort: CFString = "HTTPSPort"

/// Whether what has no proxy of its own goes through a SOCKS proxy: a number other than 0.
public nonisolated(unsafe) let kCFNetworkProxiesSOCKSEnable: CFString = "SOCKSEnable"

/// The host of the SOCKS proxy.
public nonisolated(unsafe) let kCFNetworkProxiesSOCKSProxy: CFString = "SOCKSProxy"

/// The port of the SOCKS proxy; 1080 where there is none.
public nonisolated(unsafe) let kCFNetworkProxiesSOCKSPort: CFString = "SOCKSPort"

/// The hosts that are reached without a proxy: an array of names, patterns such as `*.local`, addresses and ranges.
public nonisolated(unsafe) let kCFNetworkProxiesExceptionsList: CFString = "ExceptionsList"

/// Whether names without a dot are reached without a proxy: a number other than 0.
public nonisolated(unsafe) let kCFNetworkProxiesExcludeSimpleHostnames: CFString = "ExcludeSimpleHostnames"

/// Whether a configuration script decides; needs `URLSessionConfiguration.proxyResolver`.
public nonisolated(unsafe) let kCFNetworkProxiesProxyAutoConfigEnable: CFString = "ProxyAutoConfigEnable"

/// Where the configuration script is; nothing here runs it.
public nonisolated(unsafe) let kCFNetworkProxiesProxyAutoConfigURLString: CFString = "ProxyAutoConfigURLString"

/// The configuration script itself; nothing here runs it.
public nonisolated(unsafe) let kCFNetworkProxiesProxyAutoConfigJavaScript: CFString = "ProxyAutoConfigJavaScript"

/// Whether a configuration script is looked for in the network; needs `URLSessionConfiguration.proxyResolver`.
public nonisolated(unsafe) let kCFNetworkProxiesProxyAutoDiscoveryEnable: CFString = "ProxyAutoDiscoveryEnable"

/// An older name for the key of the host of the proxy for http.
public nonisolated(unsafe) let kCFStreamPropertyHTTPProxyHost: CFString = "HTTPProxy"

/// An older name for the key of the port of the proxy for http.
public nonisolated(unsafe) let kCFStreamPropertyHTTPProxyPort: CFString = "HTTPPort"

/// An older name for the key of the host of the proxy for https.
public nonisolated(unsafe) let kCFStreamPropertyHTTPSProxyHost: CFString = "HTTPSProxy"

/// An older name for the key of the port of the proxy for https.
public nonisolated(unsafe) let kCFStreamPropertyHTTPSProxyPort: CFString = "HTTPSPort"

/// An older name for the key of the host of the SOCKS proxy.
public nonisolated(unsafe) let kCFStreamPropertySOCKSProxyHost: CFString = "SOCKSProxy"

/// An older name for the key of the port of the SOCKS proxy.
public nonisolated(unsafe) let kCFStreamPropertySOCKSProxyPort: CFString = "SOCKSPort"

/// The user name for the SOCKS proxy.
public nonisolated(unsafe) let kCFStreamPropertySOCKSUser: CFString = "kCFStreamPropertySOCKSUser"

/// The password for the SOCKS proxy.
public nonisolated(unsafe) let kCFStreamPropertySOCKSPassword: CFString = "kCFStreamPropertySOCKSPassword"

/// The version of SOCKS: `StreamSOCKSProxyVersion.version4` or `version5`, their text, or the number; 5 where there is
/// none.
public nonisolated(unsafe) let kCFStreamPropertySOCKSVersion: CFString = "kCFStreamPropertySOCKSVersion"

/// The user name for all proxies of the dictionary.
public nonisolated(unsafe) let kCFProxyUsernameKey: CFString = "kCFProxyUsernameKey"

/// The password for all proxies of the dictionary.
public nonisolated(unsafe) let kCFProxyPasswordKey: CFString = "kCFProxyPasswordKey"

/// A proxy's host in what CFNetwork's look-up functions return; no key of `connectionProxyDictionary`.
public nonisolated(unsafe) let kCFProxyHostNameKey: CFString = "kCFProxyHostNameKey"

/// A proxy's port in what CFNetwork's look-up functions return; no key of `connectionProxyDictionary`.
public nonisolated(unsafe) let kCFProxyPortNumberKey: CFString = "kCFProxyPortNumberKey"

/// A proxy's kind in what CFNetwork's look-up functions return; no key of `connectionProxyDictionary`.
public nonisolated(unsafe) let kCFProxyTypeKey: CFString = "kCFProxyTypeKey"
