// The screen that --help shows: 24 lines of 80 columns, with every option in it. The rest is in the manual.

import URLLoading

/// Texts about the command itself.
package enum Help {
    /// The version of the library, which the command is a part of.
    package static let version = "fetch \(number) (URLLoading)\n"
    /// What servers are told, unless `--user-agent` tells them something else: no system, no kernel.
    static let agent = "fetch/\(number)"
    private static let number = URLSession.libraryVersion

    /// One screen.
    package static let text = """
        usage: fetch [options] URL...     gets what is behind URLs; man fetch says more
        Request   -X --request METHOD    -H --header FIELD    -I --head (no body)
         -d --data TEXT|@FILE   --data-binary TEXT|@FILE   -G --get (data in the query)
         --json TEXT|@FILE   -F --form NAME=TEXT|@FILE   --form-string NAME=TEXT
         -T --upload-file FILE|-   -r --range 0-499  --compressed  -A --user-agent TEXT
         -e --referer URL   -u --user NAME[:PASSWORD]   -n --netrc   --netrc-file FILE
         -b --cookie N=V|FILE   -c --cookie-jar FILE   --negotiate (by Kerberos)
        Output    -o --output FILE   -O --remote-name   -J --remote-header-name
         -i --include (head too)   -f --fail (22 from status 400 on)   --parallel N
         -C --continue-at -|BYTE (go on with what an earlier run has left)
        Way       -L --location (usual)   --no-redirects   --max-redirs N   --cache
         --resolve HOST:PORT:ADDRESS   --unix-socket PATH   --interface NAME|ADDRESS
         -x --proxy URL|''   -U --proxy-user NAME[:PASSWORD]   --noproxy HOSTS|'*'
         -m --max-time SECONDS   --timeout SECONDS (of silence)   --retry N
         --retry-delay SECONDS   --http1.1   --http2 (usual)   --http2-prior-knowledge
        Trust     --cacert FILE   --pinnedpubkey sha256//...   -E --cert FILE
         --key FILE   --pass TEXT   --insecure (anybody can read and change everything)
        Reports   -v --verbose   -s --silent   -S --show-error (in spite of -s)
         --timing (where the time went)   --har FILE   --har-with-secrets
         -w --write-out TEXT (with %{http_code} and others)
         -h --help   -V --version
        ws: and wss: URLs send lines of standard input as messages. --linger SECONDS
        Exit: 0 done, 6 no such host, 7 no connection, 22 bad status, 23 cannot write,
         28 out of time, 35 no TLS, 60 not trusted, 64 mistyped; all: man fetch

        """
}
