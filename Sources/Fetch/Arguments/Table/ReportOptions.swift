// The options that say what is told about a run.

extension OptionTable {
    static let reports = OptionSection(
        name: "reports", title: "What is told",
        rules: [
            .flag("v", "verbose", \.isVerbose, "what was sent and received, and by whom").common.global
                .more(
                    "exchange by exchange, with the certificates; where a proxy was sent the whole URL, its path is shown. Passwords, cookies and tokens in fields are not shown, nor users and passwords in URLs; the fields of a request are shown when its exchange is over"
                ).different("secrets are not shown"),
            .flag("s", "silent", \.isSilent, "neither progress nor complaints").common.global,
            .flag("S", "show-error", \.showsErrors, "with `-s`: complaints all the same").common.global,
            .flag(nil, "no-progress-meter", "complaints, and no progress") { $0.hidesProgress = true }.global,
            .flag("#", "progress-bar", "progress as a bar (the default)") { $0.hidesProgress = false }
                .global,
            .text(nil, "stderr", .file("FILE", "a file, or - for standard output"), "what is told goes into this file")
            { $0.reportFile = $1 }.global
                .more("`-` is standard output"),
            .reading(
                nil, "pretty", .oneOf("WHAT", Prettiness.allCases.map(\.rawValue)), "indent and colour JSON and heads",
                Prettiness.init(rawValue:)
            ) { $0.prettiness = $1 }.ours
                .more(
                    "`all` is the default on a terminal; `colors`, `format` or `none` is less; a body is printed as it comes"
                ),
            .flag(nil, "no-color", "no colours") { $0.hasColors = false }.ours
                .more("as with the variable `NO_COLOR`; JSON is still indented"),
            .flag(nil, "timing", \.showsTiming, "a drawing of where the time went").common.ours
                .more(
                    "look-up, connect, TLS, request, wait, transfer; with the protocol of each exchange, and whether its connection was there before"
                ),
            .flag(nil, "tls", \.showsTLS, "the server's certificates and their pins").ours
                .more(
                    "with names, dates and issuers, what was agreed upon, and by what it was judged; on standard error"),
            .reading(
                nil, "repeat", .text("N", "a number of times from 1 to 100000"),
                "ask so many times, and show the times", OptionValue.repetitions
            ) {
                $0.repetitions = $1
            }.ours.more(
                "one after the other, or at once with `-Z` and `--parallel-max`: least, median, 90 and 99 percent and most, the rate, connections and failures; bodies are not written"
            ),
            .text(nil, "compare", .text("URL", "a URL"), "set the answer against another URL's") { $0.comparedURL = $1 }
                .ours
                .more(
                    "status, fields, lines of the body and times; lines with `-` are of the first, those with `+` of this one; JSON is compared as it is printed for people"
                ),
            .text(nil, "har", .file(), "an HTTP Archive for a browser's panel") {
                $0.harFile = $1
            }.ours.more(
                "version 1.2. Authorization, Cookie, Set-Cookie and the like, users and passwords in URLs, and the bodies of requests, are not shown in it; bodies of answers are not in it"
            ),
            .flag(nil, "har-with-secrets", \.keepsSecretsInHAR, "with `--har`: they are").ours,
            .value(
                "w", "write-out", .textOrFile("TEXT|@FILE", "a text with %{variables}, or @ and a file"),
                "print this text after each transfer"
            ) {
                (options, text) throws(UsageError) in options.writeOut = try WriteOutFormat(text)
            }.common.more(
                "`%{http_code}` and others stand for values, which `man fetch` lists; `@FILE` is the text in a file without its line ends, `@-` that of standard input"
            )
            .different("an unknown variable is refused; secrets in URLs are not shown"),
        ])
}
