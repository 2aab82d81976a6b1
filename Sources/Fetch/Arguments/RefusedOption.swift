// Options of curl that are refused on purpose, each with the reason and with what to use. Those that curl has and that
// neither the table of options nor this list knows are unknown words.

/// An option of curl's that fetch does not have, and what to use in its place.
package struct RefusedOption: Sendable {
    package let letter: Character?
    package let word: String
    /// Why it is not there, and what to use in its place.
    package let reason: String

    private init(_ letter: Character?, _ word: String, _ reason: String) {
        self.letter = letter
        self.word = word
        self.reason = reason
    }

    /// What is said of it.
    func error(_ spelling: String) -> UsageError { UsageError("there is no \(spelling): \(reason)") }

    /// All of them.
    package static let all: [RefusedOption] = [
        RefusedOption(nil, "http0.9", "an answer without a head could be anything"),
        RefusedOption(
            "0", "http1.0", "HTTP/1.0 keeps no connection and knows no Host; servers of HTTP/1.0 are understood anyway"),
        RefusedOption(nil, "http3", "HTTP/3 is not spoken here; --http2 is"),
        RefusedOption(nil, "http3-only", "HTTP/3 is not spoken here; --http2 is"),
        RefusedOption("2", "sslv2", "SSL 2 is broken, and OpenSSL has given it up"),
        RefusedOption("3", "sslv3", "SSL 3 is broken, and OpenSSL has given it up"),
        RefusedOption("1", "tlsv1", "say which version: --tlsv1.2 or --tlsv1.3"),
        RefusedOption(
            nil, "location-trusted",
            "it shows passwords to every server that a redirect leads to; -u with the last URL does not"),
        RefusedOption(
            nil, "parallel-immediate",
            "connections are opened at once where the server speaks HTTP/1.1, and shared where it speaks HTTP/2"),
        RefusedOption(nil, "path-as-is", "a path is always sent as it is written"),
        RefusedOption(nil, "raw", "bodies are always without their framing, and what comes compressed is undone"),
        RefusedOption(nil, "ignore-content-length", "a body that ends before its length says would be taken for whole"),
        RefusedOption(nil, "request-target", "the request line has the URL's own path and query"),
        RefusedOption(
            nil, "libcurl", "this command is a program of the library URLLoading, whose README shows requests in Swift"),
        RefusedOption("M", "manual", "man fetch, or fetch --generate man | man -l -"),
        RefusedOption(
            nil, "doh-url", "names are looked up by the system; systemd-resolved and others can do it over TLS"),
        RefusedOption(nil, "dns-servers", "names are looked up by the system; --resolve names an address"),
        RefusedOption("P", "ftp-port", "FTP servers are never asked to connect to this machine"),
        RefusedOption("Q", "quote", "FTP commands of one's own are not sent"),
        RefusedOption("t", "telnet-option", "TELNET is not spoken here"),
        RefusedOption("B", "use-ascii", "files are never changed on their way"),
        RefusedOption(nil, "crlf", "files are never changed on their way"),
        RefusedOption(nil, "xattr", "-v and --har tell where a file came from"),
        RefusedOption(nil, "metalink", "curl has given it up, too"),
        RefusedOption(
            nil, "trace", "-v shows heads, --har keeps all exchanges, and --keylog lets Wireshark read the bytes"),
        RefusedOption(
            nil, "trace-ascii", "-v shows heads, --har keeps all exchanges, and --keylog lets Wireshark read the bytes"),
        RefusedOption(nil, "trace-time", "--timing and --har say when things happened"),
        RefusedOption(nil, "no-keepalive", "the system's probes of silent connections cost nothing"),
        RefusedOption("Y", "speed-limit", "--timeout SECONDS gives up after so long a silence"),
        RefusedOption("y", "speed-time", "--timeout SECONDS gives up after so long a silence"),
        RefusedOption(
            nil, "ciphers", "which ciphers are good is OpenSSL's to say: its configuration file can be changed"),
        RefusedOption(
            nil, "tls13-ciphers", "which ciphers are good is OpenSSL's to say: its configuration file can be changed"),
        RefusedOption(
            nil, "proxy-insecure", "a proxy that is not verified reads everything: --cacert names its authority"),
        RefusedOption(
            nil, "aws-sigv4",
            "requests are not signed here; a program can do it by an interceptor (docs/interceptors.md)"),
    ]
}
