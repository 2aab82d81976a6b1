// The options that say how the server is reached, and how long that may take.

extension OptionTable {
    static let way = OptionSection(
        name: "way", title: "The way there",
        rules: [
            .flag("L", "location", \.followsRedirects, "follow redirects (the default)").common
                .more("`--no-location` makes the redirect itself the answer").different("the default"),
            .flag(nil, "no-redirects", "the redirect itself is the answer") { $0.followsRedirects = false }.ours,
            .reading(
                nil, "max-redirs", .text("N", "a number from 0 to 20: more are never followed"),
                "no more than N redirects; 20 unless set, and never more", OptionValue.redirects
            ) { $0.maximumRedirects = $1 }.different("20 unless set, in place of 50; -1 and more than 20 are refused"),
            .reading(
                nil, "proto", .text("SCHEMES", "schemes, such as =https or -ftp"), "use these schemes alone",
                OptionValue.schemes
            ) {
                $0.schemes = $1
            }.more("`=https` is this one, `+` adds and `-` takes away; redirects count as well"),
            .reading(
                nil, "proto-redir", .text("SCHEMES", "schemes, such as =https"),
                "redirects may lead to these schemes alone",
                OptionValue.redirectSchemes
            ) { $0.redirectSchemes = $1 },
            .reading(
                nil, "proto-default", .text("SCHEME", "a scheme, such as http"), "the scheme of URLs without one",
                OptionValue.scheme
            ) { $0.usualScheme = $1 },
            .flag("4", "ipv4", "IPv4 addresses alone") { $0.addressFamily = .ipv4 }.common,
            .flag("6", "ipv6", "IPv6 addresses alone") { $0.addressFamily = .ipv6 }.common,
            .reading(
                nil, "resolve",
                .text(
                    "HOST:PORT:ADDRESS",
                    "host:port:address, such as example.com:443:127.0.0.1 or example.com:443:[::1],127.0.0.1"),
                "use this address for the host", OptionValue.override
            ) { $0.hostOverrides[$1.host] = $1.addresses }.common
                .more(
                    "and do not look it up; several with commas between them, IPv6 ones in brackets; `*` is any host, and `HOST:ADDRESS` is for all ports"
                ),
            .reading(
                nil, "connect-to",
                .text(
                    "HOST:PORT:OTHER:PORT",
                    "a host, a port, another host and another port, such as example.com:443:other.example:8443"),
                "connect to another host or port", OptionValue.standIn
            ) { options, standIn in
                // As in curl the first that fits counts.
                if options.standIns[standIn.place] == nil { options.standIns[standIn.place] = standIn.target }
            }
            .more(
                "while the Host field and the certificate stay the URL's; without a host or a port in front it is for every host or port, and what is left out behind stays as it is: `::127.0.0.1:8080`, `example.com::staging.example:`"
            ).different(
                "a proxy is still asked for the URL's host, and what is for every host is not for URLs with an address"),
            .text(
                nil, "unix-socket", .file("PATH", "a path"),
                "connect to this UNIX-domain socket"
            ) {
                $0.socketPath = $1
            }
            .more("whatever the URL's host"),
            .text(
                nil, "interface", .text("NAME|ADDRESS", "the name of an interface, or an address of this machine"),
                "connect from here"
            ) {
                if OptionValue.isAddress($1) { $0.localAddress = $1 } else { $0.interface = $1 }
            }
            .more("from this address, or over this interface of this machine")
            .different("`if!` and `host!` are not known"),
            .reading(
                "x", "proxy", .text("URL", "a URL such as http://proxy.example:8080 or socks5h://127.0.0.1"),
                "go through this proxy, `''` for none", OptionValue.proxy
            ) { $0.proxy = $1 }.common
                .more(
                    "http, https, socks4, socks4a, socks5 or socks5h; without it `http_proxy`, `https_proxy` and `all_proxy` count"
                ).different("an HTTP proxy whose port is not named is at 80, in place of 1080; in the variables, too"),
            socks("socks4", "SOCKS 4"), socks("socks4a", "SOCKS 4a"), socks("socks5", "SOCKS 5"),
            socks("socks5-hostname", "SOCKS 5", scheme: "socks5h").more("which looks up the host's name"),
            .reading(
                "U", "proxy-user", .text("NAME[:PASSWORD]", "a user and a password, such as user:password"),
                "user name and password for the proxy", OptionValue.login
            ) {
                $0.proxyLogin = $1
            }.different("sent when the proxy asks for it"),
            .value(
                nil, "noproxy", .text("HOSTS", "a list of hosts, such as localhost,.example.com"),
                "hosts to reach without a proxy"
            ) {
                (options, list) in options.proxyExceptions = list
            }.more("in place of `no_proxy`; `*` for all"),
            .flag(nil, "http1.1", "offer servers HTTP/1.1 alone") { $0.http2 = .off },
            .flag(nil, "http2", "offer HTTP/2 to `https` servers (the default)") { $0.http2 = .offered }
                .more("beside HTTP/1.1, and speak what they choose; with `http` servers HTTP/1.1 is spoken")
                .different(
                    "an `http` server is never asked for HTTP/2 by the `Upgrade` field, which RFC 9113 has given up"),
            .flag(nil, "http2-prior-knowledge", "and HTTP/2 with `http` servers unasked") {
                $0.http2 = .priorKnowledge
            }
            .more("an answer in HTTP/1.1 is an error; of these three options the last counts"),
            .flag(nil, "tcp-nodelay", "small pieces are sent at once (the default)") { _ in },
            .reading(
                "m", "max-time", .text("SECONDS", "a number of seconds"),
                "give up after so long, each attempt by itself", OptionValue.seconds
            ) {
                $0.maximumTime = $1
            }.common.different("0 is refused: without the option there is no limit"),
            .reading(
                nil, "connect-timeout", .text("SECONDS", "a number of seconds"),
                "give up when there is no connection after so long", OptionValue.seconds
            ) {
                $0.connectionTime = $1
            }.common
                .more("with the look-up of the name, the dialogue with a proxy and TLS")
                .different("0 is refused: without the option there is no limit"),
            .reading(
                nil, "keepalive-time", .text("SECONDS", "a number of seconds"),
                "ask after so long a silence whether the server is still there", OptionValue.seconds
            ) {
                $0.probeInterval = $1
            }.more(
                "and again after as long; nine questions without an answer end the connection. Without it the system's setting counts, usually two hours"
            ).different("curl asks after 60 seconds where nothing is set"),
            .reading(
                nil, "timeout", .text("SECONDS", "a number of seconds"),
                "give up after so long a silence; 60 unless set", OptionValue.seconds
            ) {
                $0.idleTime = $1
            }.ours,
            .reading(
                nil, "linger", .text("SECONDS", "a number of seconds"),
                "end a web socket after so long a silence",
                OptionValue.secondsOrNone
            ) {
                $0.patience = $1
            }.ours
                .more("counted from when all is sent; 5 unless set"),
            .reading(nil, "retry", .text("N", "a number of times"), "up to N more attempts", OptionValue.count) {
                $0.retries = $1
            }.common
                .more(
                    "after 1, 2, 4 … seconds, or longer where `Retry-After` says so, up to ten minutes: for 408, 429, 500, 502, 503, 504, and for names, connections and times that failed; nothing that may have been done is done twice (POST after a lost connection), and nothing that standard output has seen"
                ).different("a POST goes again only where nothing was done"),
            .reading(
                nil, "retry-delay", .text("SECONDS", "a number of seconds"), "wait so long before each of them",
                OptionValue.seconds
            ) {
                $0.retryDelay = $1
            }.different("0 is refused: without the option the pauses grow"),
            .reading(
                nil, "retry-max-time", .text("SECONDS", "a number of seconds"),
                "and begin none after so long", OptionValue.seconds
            ) {
                $0.retryTime = $1
            }.different("0 is refused: without the option there is no limit"),
            .flag(nil, "retry-all-errors", \.retriesAllErrors, "with `--retry`: after every failure")
                .more("also where that may do something twice, as by your word"),
            .flag(nil, "retry-connrefused", "with `--retry`: connect again (the default)") { _ in },
            .flag(nil, "cache", \.usesCache, "use and fill the cache in `~/.cache/fetch`").ours
                .more(
                    "and say whether it was a hit, revalidated or a miss; what came with `--insecure` or `--cacert` serves no later run, and with `-v` or `--tls`, which show the certificates, nothing that came over TLS is used again"
                ),
        ])

    private static func socks(_ word: String, _ name: String, scheme: String? = nil) -> OptionRule {
        let scheme = scheme ?? word
        return .reading(
            nil, word, .text("HOST[:PORT]", "a host and perhaps a port, such as 127.0.0.1:1080"),
            "go through this proxy by \(name)",
            { OptionValue.proxy("\(scheme)://\($0)") }, { $0.proxy = $1 })
    }
}
