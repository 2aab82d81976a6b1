// The options that say what is asked for, and by which user.

extension OptionTable {
    static let request = OptionSection(
        name: "request", title: "The request",
        rules: [
            .reading(
                "X", "request", .text("METHOD", "a method such as PUT"),
                "this method in place of GET", OptionValue.method
            ) { $0.method = $1 }.common.different("`-X GET` with a body is refused; `-G` puts data into the query")
                .more("unless set it is POST with `-d` and `--json`, and PUT with `-T`"),
            .reading(
                "H", "header", .text("FIELD", "a field, such as 'Accept: text/html'"), "one more field",
                OptionValue.field
            ) { $0.fields.append($1) }.common
                .more(
                    "the first of a name replaces what would be sent, more join it behind a comma, cookies behind a semicolon; `'Name;'` has an empty value; fields of the connection, of the body's length and of the proxy's password are refused"
                ).different(
                    "`'Name:'` sends the field empty, where curl leaves it out; fields of one name become one; `Connection`, `Content-Length`, `Transfer-Encoding`, `TE`, `Upgrade`, `Trailer`, `Keep-Alive` and `Proxy-Authorization` are refused"
                ),
            .value("d", "data", .text("TEXT|@FILE", "a text, or @ and a file"), "the body of a form") {
                (options, text) throws(UsageError) in try options.addToForm(OptionValue.piece(text, keepsLines: false))
            }.common.more(
                "several are joined by `&`; `@FILE` is a file's contents without its line ends, `@-` standard input"),
            .value(nil, "data-ascii", .text("TEXT|@FILE", "a text, or @ and a file"), "the same as `--data`") {
                (options, text) throws(UsageError) in try options.addToForm(OptionValue.piece(text, keepsLines: false))
            },
            .value(
                nil, "data-binary", .text("TEXT|@FILE", "a text, or @ and a file"), "as `--data`, and files as they are"
            ) {
                (options, text) throws(UsageError) in try options.addToForm(OptionValue.piece(text, keepsLines: true))
            },
            .value(nil, "data-raw", .text("TEXT", "a text"), "as `--data`, and an `@` is one") {
                (options, text) throws(UsageError) in try options.addToForm(.text(text))
            },
            .value(
                nil, "data-urlencode", .text("TEXT", "TEXT, NAME=TEXT, @FILE or NAME@FILE"),
                "as `--data`, with the text encoded as forms are"
            ) { (options, text) throws(UsageError) in try options.addToForm(OptionValue.encodedPiece(text)) }
            .more("`NAME=TEXT`, `=TEXT`, `TEXT`, `@FILE` or `NAME@FILE`; the name stays as it is"),
            .value(
                nil, "json", .text("TEXT|@FILE", "a text, or @ and a file"), "a JSON body, with Content-Type and Accept"
            ) {
                (options, text) throws(UsageError) in try options.addToJSON(OptionValue.piece(text, keepsLines: true))
            }.common.more("`@FILE` and `@-` as above; several stand one after the other"),
            .value("F", "form", .text("NAME=TEXT|@FILE", FormPart.form), "a part of a multipart form") {
                (options, text) throws(UsageError) in try options.addToMultipart(FormPart.read(text))
            }.common.more(
                "`NAME=@FILE` uploads a file, read while it is sent, `NAME=<FILE` takes a file's contents as the text, `-` is standard input; behind it `;type=TYPE` and `;filename=NAME`, and in double quotes a semicolon is one"
            ).different("`-F a=@x,y` is one file with a comma in its name; files are always sent with their length"),
            .value(nil, "form-string", .text("NAME=TEXT", "NAME=TEXT"), "as `--form` with the text as it is") {
                (options, text) throws(UsageError) in try options.addToMultipart(FormPart.literal(text))
            },
            .value(
                "T", "upload-file", .file("FILE", "a file, or - for standard input"),
                "PUT of a file, read while it is sent"
            ) {
                (options, text) throws(UsageError) in try options.upload(text)
            }.common.more("`-` is standard input; behind a URL that ends with `/` comes the file's name")
                .different(
                    "one file for all URLs, without braces and brackets; a server of HTTP is told by `Upload-Complete` and `Upload-Draft-Interop-Version` that an upload which breaks off can go on"
                ),
            .flag("G", "get", \.putsDataInQuery, "what `-d` has goes into the URL's query")
                .more("no body is sent; what cannot stand there is encoded, `%41` stays"),
            .value(
                nil, "url-query", .text("TEXT", "TEXT, NAME=TEXT, @FILE or NAME@FILE"),
                "one more piece of the URL's query"
            ) { (options, text) throws(UsageError) in options.query.append(OptionValue.queryPiece(text)) }
            .more("encoded as `--data-urlencode` does; behind a `+` it is as it stands"),
            .flag("I", "head", "HEAD, and the heads shown as with `-i`") { options in
                options.method = "HEAD"
                options.showsHead = true
            }.common,
            .text("A", "user-agent", .text("TEXT", "a text"), "the User-Agent field") { $0.setField("User-Agent", $1) }
                .more("`fetch` and its version unless set").different("an empty text is refused"),
            .text("e", "referer", .text("URL", "a URL"), "the Referer field") { $0.setField("Referer", $1) }
                .different("an empty text is refused, and `;auto` is sent as it is"),
            .reading(
                "r", "range", .text("RANGES", "bytes, such as 0-499 or -500"),
                "these bytes alone: `0-499`, `500-`, `-500`", OptionValue.range
            ) { $0.range = $1 }
            .different(
                "`5` is refused, `5-` is the rest; not with `--compressed`: a part is of the bytes that are sent"),
            .flag(
                nil, "compressed", \.acceptsCompression,
                "ask for a compressed body"
            )
            .common.more(
                "by gzip and deflate, and by br and zstd where the system can undo them; what comes compressed is undone with or without it"
            ),
            .reading(
                "z", "time-cond", .text("DATE|FILE", "a date such as 2026-11-28, or a file whose time is meant"),
                "only if it has changed since", OptionValue.timeCondition
            ) { $0.condition = $1 }
            .more("with `-` in front, only if it has not; a file that `-o` names stays as it is when nothing is new")
            .different("a date is one of HTTP, or `YYYY-MM-DD`, perhaps with a time; other words are refused"),
            .text(nil, "etag-save", .file(), "the answer's entity tag goes into this file") { $0.savedTag = $1 },
            .text(nil, "etag-compare", .file(), "only if the entity tag is not the file's") {
                $0.comparedTag = $1
            },
            .reading(
                "u", "user", .text("NAME[:PASSWORD]", "a user, or user:password"),
                "user name and password for the server",
                OptionValue.login
            ) { $0.login = $1 }.common
                .more(
                    "sent to the URL's own scheme, host and port alone: over `https` with the first request, over `http` when the server asks, by Basic, Digest or NTLM"
                ).different("over `http` the password waits until the server asks for it; `--basic` sends it at once"),
            .flag(nil, "basic", "`-u` with the first request, over `http` too") { $0.loginMethod = .basic }
                .more("every machine on the way can read it there"),
            .flag(nil, "digest", "`-u` by Digest alone") { $0.loginMethod = .digest },
            .flag(nil, "ntlm", "`-u` by NTLM alone") { $0.loginMethod = .ntlm },
            .flag(nil, "anyauth", "`-u` when and how the server asks for it") {
                $0.loginMethod = .asked
            },
            .flag(nil, "negotiate", \.usesTicket, "show the Kerberos ticket of `kinit`")
                .more(
                    "where the URL's own scheme, host and port or a proxy asks for Negotiate; without, only a proxy of `-x` is shown it"
                ).different("no `-u :` is needed"),
            .reading(
                nil, "oauth2-bearer", .text("TOKEN", "a token"), "this token as `Authorization: Bearer`",
                OptionValue.token
            ) { $0.bearerToken = $1 }.different("refused beside `-u`"),
            .flag("n", "netrc", "user name and password for each host, from `~/.netrc`") {
                if $0.netrc == nil { $0.netrc = .home }
            }.different("fails where there is no such file, or others may read it")
                .more("as `-u`; no other user may read the file"),
            .flag(nil, "netrc-optional", "the same, if there is such a file") {
                if $0.netrc == nil || $0.netrc == .home { $0.netrc = .homeIfThere }
            },
            .text(nil, "netrc-file", .file(), "as `-n`, from this file") {
                $0.netrc = .file($1)
            }
            .more("standard error says so if others may read it"),
            .text(
                "b", "cookie", .file("N=V|FILE", "name=value, or a file of cookies"),
                "a Cookie field, or a file of cookies"
            ) {
                if $1.contains("=") { $0.cookieTexts.append($1) } else { $0.cookieFiles.append($1) }
            }.common.more(
                "in Netscape's form; a file that is not there holds none; several texts are joined and several files read, but not both"
            ).different("texts and files are not sent together"),
            .flag(
                "j", "junk-session-cookies", \.dropsSessionCookies,
                "leave out the file's cookies of a session"),
            .text("c", "cookie-jar", .file(), "writes all cookies there at the end") { $0.cookieJar = $1 }.common
                .more("`-` is standard output"),
        ])
}

extension Options {
    fileprivate mutating func addToForm(_ piece: BodyPiece) throws(UsageError) {
        switch body {
        case .none: body = .form([piece])
        case .form(let pieces): body = .form(pieces + [piece])
        case .json, .object, .multipart, .upload: throw Self.twoBodies
        }
    }

    fileprivate mutating func addToJSON(_ piece: BodyPiece) throws(UsageError) {
        switch body {
        case .none: body = .json([piece])
        case .json(let pieces): body = .json(pieces + [piece])
        case .form, .object, .multipart, .upload: throw Self.twoBodies
        }
    }

    fileprivate mutating func addToMultipart(_ part: FormPart?) throws(UsageError) {
        guard let part else { throw UsageError("--form needs \(FormPart.form)") }
        switch body {
        case .none: body = .multipart([part])
        case .multipart(let parts): body = .multipart(parts + [part])
        case .form, .json, .object, .upload: throw Self.twoBodies
        }
    }

    fileprivate mutating func upload(_ file: String) throws(UsageError) {
        guard !file.isEmpty else { throw UsageError("--upload-file needs a file, or - for standard input") }
        guard body == .none else { throw Self.twoBodies }
        body = .upload(file)
    }

    static var twoBodies: UsageError { UsageError("a request has one body: -T, -d, -F or --json") }

    fileprivate mutating func setField(_ name: String, _ value: String) {
        fields.removeAll { $0.name.caseInsensitiveCompare(name) == .orderedSame }
        fields.append(HeaderField(name: name, value: value))
    }
}

extension FormPart {
    fileprivate static let form = "NAME=TEXT, NAME=@FILE or NAME=<FILE, and behind it ;type=TYPE or ;filename=NAME"
}
