// The options that say what becomes of the answer.

extension OptionTable {
    static let answer = OptionSection(
        name: "output", title: "What becomes of the answer",
        rules: [
            .text("o", "output", .file("FILE", "a file, or - for standard output"), "the body becomes a file") {
                $0.outputs.append(.file($1))
            }.common.more(
                "once for each URL, in their order; `-` is standard output, even for what is no text; `#1` is what was chosen in the first braces or brackets of the URL"
            ),
            .flag("O", "remote-name", "the same, named as the URL's last part") {
                $0.outputs.append(.remoteName)
            }
            .common.more("by itself for all URLs, beside `-o` for the URL of its place")
            .different("one is enough for all URLs"),
            .flag(nil, "remote-name-all", "the same for all URLs") {
                if !$0.outputs.contains(.remoteName) { $0.outputs.append(.remoteName) }
            },
            .flag("J", "remote-header-name", \.believesServersNames, "with `-O`: the name that the server gives")
                .more("nothing is overwritten, no `NAME.part` of another run either, and no hidden file made"),
            .text(nil, "output-dir", .folder(), "files go into this folder") { $0.outputFolder = $1 },
            .flag(nil, "create-dirs", \.makesFolders, "make folders that are not there")
                .more("of `-o` and `--output-dir`"),
            .flag(nil, "no-clobber", "a file that is there stays") {
                $0.keepsOldFiles = true
            }
            .more("the new one is `NAME.1`, `NAME.2` …"),
            .reading(
                "C", "continue-at", .text("-|BYTE", "- or a number of bytes"),
                "goes on with what an earlier run has left", OptionValue.resumption
            ) {
                $0.resumption = $1
            }.common.more(
                "with a number at that byte of the file, by your word: nothing is checked but that the server sends that part"
            )
            .different("`-` goes on only where the file is known to be the same (docs/fetch.md, Files)"),
            .flag("i", "include", \.showsHead, "the head before the body").common.more(
                "the status line and the fields as they came, and before them the heads of 1xx answers, of redirects that were followed and of questions for a password; a proxy's answer to CONNECT is not shown"
            ).different("lines end with LF alone"),
            .text("D", "dump-header", .file("FILE", "a file, or - for standard output"), "the heads go into this file")
            { $0.headFile = $1 }
            .different("lines end with LF alone"),
            .flag("f", "fail", \.failsOnErrorStatus, "no body, and 22, from status 400 on").common
                .more("without it a file keeps what came with such a status, and standard error says so"),
            .flag(
                nil, "fail-with-body", \.failsWithBody, "22 from status 400 on, and the body"
            ),
            .flag(nil, "fail-early", \.stopsAtFirstFailure, "the first URL that fails ends the run").global,
            .flag("R", "remote-time", \.keepsTime, "the file's time is the answer's `Last-Modified`"),
            .reading(
                nil, "max-filesize", .text("BYTES", "a number of bytes, such as 500k or 2G"),
                "63 where there are more bytes", OptionValue.bytes
            ) {
                $0.largestFile = $1
            }.more("`k`, `M`, `G` and `T` are powers of 1024")
                .different("0 lets no body through: without the option there is no limit"),
            .reading(
                nil, "limit-rate", .text("BYTES", "a number of bytes a second, such as 100k"),
                "no more than so many bytes a second", OptionValue.rate
            ) {
                $0.rateLimit = $1
            }.more("for each URL, with `k`, `M`, `G` as above")
                .different("0 is refused: without the option there is no limit"),
            .flag("N", "no-buffer", "no effect: what comes is written at once") { _ in },
            .flag(nil, "stream", "no effect, as `-N`; HTTPie has it") { _ in }.ours,
            .flag("Z", "parallel", \.isParallel, "up to 50 files at once, in place of 6").global.common
                .more("what goes to standard output comes one after the other")
                .different("files are fetched at once without it, too"),
            .reading(
                nil, "parallel-max", .text("N", "a number from 1 to 300"), "up to so many files at once",
                OptionValue.parallel
            ) {
                $0.parallel = $1
            }.global.different("0 is refused"),
        ])
}
