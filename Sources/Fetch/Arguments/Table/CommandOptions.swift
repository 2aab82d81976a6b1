// The options about the command line itself.

extension OptionTable {
    static let command = OptionSection(
        name: "command", title: "The command line itself",
        rules: [
            .reading(nil, "url", .text("URL", "a URL"), "one more URL", .url),
            .flag("g", "globoff", \.takesURLsLiterally, "take braces and brackets in URLs as they are"),
            .reading(":", "next", nil, "here begins a request of its own", .next)
                .more(
                    "with options of its own; only `-v`, `-s`, `-S`, `-Z`, `--parallel-max`, `--fail-early`, `--stderr`, `--no-progress-meter` and `-#` count for all"
                ),
            .reading(
                "K", "config", .file("FILE", "a file of options, or - for standard input"), "options from this file",
                .config
            )
            .more("one to a line, as `silent`, `-L`, `user-agent = \"me\"`; `#` begins a remark"),
            .reading(
                "q", "disable", nil, "as the first word: no file of options", .ignoringDefaultConfig
            )
            .more("`~/.config/fetch/config` is read before the command line otherwise").different(
                "the file is another one than curl's"),
            .reading("h", "help", OptionArgument.helpTopic, "help: one screen, `all`, a section, or an option", .help)
                .different("the sections have other names"),
            .reading("V", "version", nil, "the version", .version),
            .reading(
                nil, "generate", .oneOf("WHAT", GeneratedText.allCases.map(\.rawValue)),
                "the manual or the completions of a shell", .generate
            ).ours,
        ])
}

extension OptionArgument {
    fileprivate static let helpTopic: OptionArgument = {
        var topic = OptionArgument.text("TOPIC", "all, a section or an option")
        topic.isOptional = true
        return topic
    }()
}
