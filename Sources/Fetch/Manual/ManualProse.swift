// What the manual says beside the table of options, in Markdown.

/// Texts of the manual.
package enum ManualProse {
    struct Section {
        let title: String
        let paragraphs: [String]
    }

    static let description = """
        `fetch` writes what is behind URLs to standard output or into files, and can send something along. It knows the schemes http, https, ws, wss, ftp, ftps, file and data. Options that \
        curl has too are spelled as there; letters may be put together, a value may follow its letter at once or its word behind an equals sign, and `--no-WORD` undoes what `--WORD` switches on. A lone `--` ends the options.
        """

    static let exitStatus = """
        A number means what it means in curl, but 70 is anything else here, and some failures have another number than in curl: a proxy that refuses is 97 (curl: 56), a proxy's unknown name 6 (5), a client certificate that is missing 35 (56), an answer that is no HTTP 8 (1), a server that does not send the part asked for by `-C` 36 (33), an interface that is not there 7 (45), and a cookie jar that cannot be written 23 (0). With several URLs it is that of the first in the command line that failed. Where the reader of standard output has seen enough, as head has, it is 23, and nothing is said about it.
        """

    static let sections: [Section] = [
        Section(
            title: "URLs",
            paragraphs: [
                "A URL without a scheme is `http` for `localhost`, for addresses of this machine and of private networks, and for port 80, and `https` elsewhere. Where nothing answers there, or no TLS, and the request holds nothing of the user's, is a GET or HEAD and says nothing about TLS (`--cacert`, `--pinnedpubkey`, `--tlsv1.3` and their like), `http` is tried, and standard error says so. `:8080/path` is localhost.",
                "`{one,two}` and `[1-10]`, `[001-100]`, `[a-z]`, `[0-100:10]` stand for several URLs; `#1`, `#2` … in the name of `-o` for what was chosen. A backslash in front of a brace or bracket takes its meaning away.",
                "`fetch post URL` is a request in short: behind the URL stand `NAME=TEXT` and `NAME:=JSON` for the members of a JSON object, `NAME==TEXT` for the query, `FIELD:VALUE` for a field, `NAME@FILE` for a file, which makes a form of it, and `NAME=@FILE` and `NAME:=@FILE` for what a file holds. `get`, `head`, `put`, `patch`, `delete` and `options` do the same for theirs.",
            ]),
        Section(
            title: "Files",
            paragraphs: [
                "A file is written as `FILE.part` and gets its name when it is whole. A file that is there passes its rights on to both, and one that may not be written is not replaced. What breaks off is removed, unless the answer had a strong ETag or a Last-Modified at least a minute before its Date: then it stays, with a note of URL and version in `FILE.part.note`, and `-C -` asks for the rest.",
                "While files are written, and on a terminal while standard output goes elsewhere, standard error shows how far they are: a bar for each on a terminal (bytes, rate of the last seconds, time left), a line every five seconds elsewhere, and a line when a file is done. Files with cookies, archives and notes are readable by their owner only. `-` in the place of a file of `-c`, `--har` or `--etag-save` is standard output.",
                "`~/.config/fetch/config` (below `XDG_CONFIG_HOME`, where that is set) has options for every run, one to a line. `~/.netrc` has the logins of `--netrc`.",
            ]),
        Section(
            title: "Variables of --write-out",
            paragraphs: [
                "`--write-out` knows `\\n`, `\\r`, `\\t`, `%%`, `%header{NAME}` and these, with curl's meanings; times are in seconds: "
                    + WriteOutVariable.allCases.map { "`%{\($0.rawValue)}`" }.joined(separator: ", ") + ".",
                "`%{json}` is all of them as JSON, and `%{header_json}` the fields of the answer. What follows `%{stderr}` goes to standard error, until `%{stdout}`; what follows `%{onerror}` is written only after a failure.",
                "`%{http_version}` is `2`, `1.1`, `1` for HTTP/1.0, or `0` without an answer. `%{size_download}` counts the body's bytes as they came, compressed or not. In URLs users and passwords are left out.",
            ]),
        Section(
            title: "Web sockets",
            paragraphs: [
                "A URL with ws or wss is a web socket: each line of standard input is sent as a text message (as bytes where it is not UTF-8), each message that comes is written to standard output, text with a line end behind it. When standard input ends, the server's answers are waited for: goodbye is said when it has been quiet for five seconds, or as long as `--linger` says, and after a minute (or as long as `--linger` says, if that is more) in any case. With 0 no more is waited for than the pong to a ping, which comes behind the answers that a server gives at once. A server that says goodbye first ends the run as well; one that gives another code than 1000 or 1001 with 18. What has no meaning for a conversation, such as `-o`, `-i`, `--retry` or `--http2`, is refused."
            ]),
        Section(
            title: "FTP, files and data",
            paragraphs: [
                "URLs with ftp, ftps, file and data are read, and `-T` stores a file or standard input on an FTP server. What only HTTP has is refused: a method (`-X`, `-I`), any other body, `-r`, `-z`, `--etag-save`, `--etag-compare`, `--compressed`, `--url-query`, fields (`-H`, `-A`, `-e`, a text of `-b`, `--oauth2-bearer`), heads (`-i`, `-D`), `-R`, and `-u` for files and data. `-C N` ends with 36 and leaves the file as it was: the whole would come."
            ]),
        Section(
            title: "Environment",
            paragraphs: [
                "`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`: the proxies, and the hosts that are reached without them, unless `--proxy` or `--noproxy` say otherwise; capitals do too, but for HTTP_PROXY, which is not read.",
                "`SSL_CERT_FILE`, `SSL_CERT_DIR`: the certificates that are trusted, unless `--cacert` names others. `SSLKEYLOGFILE`: where the keys go with `--keylog`.",
                "`XDG_CACHE_HOME`, `XDG_CONFIG_HOME`: where the cache and the file of options are, in place of `~/.cache` and `~/.config`; `HOME`: where `~` is.",
                "`NO_COLOR`, `TERM`: whether there are colours. `LC_ALL`, `LC_MESSAGES`, `LANG`, `LANGUAGE`: the languages that servers are asked for.",
            ]),
    ]

    /// Commands that the suite runs, with a server of its own in the place of example.com.
    package static let examples: [String] = [
        #"fetch http://example.com/hello"#,
        #"fetch -i http://example.com/hello"#,
        #"fetch -O http://example.com/files/disk.img"#,
        #"fetch -C - -O http://example.com/files/disk.img"#,
        #"fetch -o one -o two http://example.com/a http://example.com/b"#,
        #"fetch -O http://example.com/files/1 http://example.com/files/2 http://example.com/files/3"#,
        #"fetch -d name=Ann -d town=Graz http://example.com/form"#,
        #"fetch -G -d q=swift -d 'sort=by name' http://example.com/search"#,
        #"fetch -F name=Ann -F 'photo=@person.json;type=application/json' http://example.com/form"#,
        #"fetch --json '{"name": "Ann"}' http://example.com/people"#,
        #"fetch --json @person.json http://example.com/people"#,
        #"fetch post http://example.com/people name=Ann age:=7 X-Test:yes page==2"#,
        #"fetch -s -o 'page-#1' 'http://example.com/[1-3]'"#,
        #"fetch -d a=b http://example.com/form --next http://example.com/hello"#,
        #"fetch --pretty all http://example.com/hello"#,
        #"fetch -T person.json http://example.com/files/"#,
        #"echo hello | fetch -T - http://example.com/files/hello"#,
        #"fetch -X DELETE -H 'If-Match: "v1"' http://example.com/files/1"#,
        #"fetch -u ann:secret http://example.com/private"#,
        #"fetch --netrc-file logins http://example.com/private"#,
        #"fetch -c jar http://example.com/login"#,
        #"fetch -b jar http://example.com/hello"#,
        #"fetch --compressed http://example.com/long"#,
        #"fetch -r 0-4 http://example.com/hello"#,
        #"fetch --retry 3 --max-time 60 http://example.com/hello"#,
        #"fetch -fsS -w '%{http_code} %{size_download}\n' -o page http://example.com/hello"#,
        #"fetch --timing -o page http://example.com/moved"#,
        #"fetch -v http://example.com/moved"#,
        #"fetch --har run.har -o page http://example.com/moved"#,
        #"fetch --cache http://example.com/fresh"#,
        #"fetch --cacert authority.pem https://example.com/hello"#,
        #"fetch --cacert authority.pem --pinnedpubkey sha256//"$(cat pin)" https://example.com/hello"#,
        #"fetch --cacert authority.pem --cert me.pem https://example.com/hello"#,
        #"fetch -x http://proxy.example:8080 http://example.com/hello"#,
        #"fetch --http1.1 --cacert authority.pem https://example.com/hello"#,
        #"fetch --http2-prior-knowledge -w '%{http_version}\n' http://example.com/hello"#,
    ]
}
