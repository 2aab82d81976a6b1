// The options that say which servers to trust, and which certificate to show them.

extension OptionTable {
    static let trust = OptionSection(
        name: "trust", title: "Whom to trust",
        rules: [
            .text(
                nil, "cacert", .file("FILE", "a file of certificates in PEM form"),
                "trust these certificates and no others"
            ) {
                $0.anchorFile = $1
            }.common
                .more("in PEM form"),
            .text(
                nil, "capath", .folder("FOLDER", "a folder of certificates in PEM form"),
                "the same, of all files in a folder"
            ) {
                $0.anchorFolder = $1
            }.different("the files may have any names"),
            .reading(
                nil, "pinnedpubkey", .text("PINS", "sha256//… of a public key, several joined by ;"),
                "and one of these keys must be in the path", OptionValue.pins
            ) {
                $0.pins = $1
            }.more("`sha256//` and the base64 of a hash, several joined by `;`")
                .different("a key of any certificate in the path counts; files of keys are not read"),
            .text("E", "cert", .file("FILE", "a file in PEM or PKCS #12 form"), "our certificate and those above it") {
                $0.certificateFile = $1
            }
            .more("in PEM (with the key, or with `--key`) or PKCS #12 form")
            .different("the passphrase is `--pass`, not behind a colon"),
            .text(nil, "key", .file("FILE", "a file in PEM form"), "its private key in PEM form") { $0.keyFile = $1 },
            .text(nil, "pass", .text("TEXT", "a passphrase"), "the passphrase of the key or the PKCS #12 file") {
                $0.passphrase = $1
            },
            .flag(
                "k", "insecure", \.acceptsAnyCertificate,
                "accept any certificate"
            ).common
                .more("an attacker in between can read and change everything; standard error says so each time")
                .different(
                    "says so each time"),
            lowest("tlsv1.2", .oneTwo, "TLS 1.2 or above (the default)"),
            lowest("tlsv1.3", .oneThree, "TLS 1.3 or above"),
            lowest("tlsv1.1", .oneOne, "TLS 1.1 or above: TLS 1.1 is broken"),
            lowest("tlsv1.0", .one, "TLS 1.0 or above: TLS 1.0 is broken"),
            .reading(
                nil, "tls-max", .oneOf("VERSION", TLSVersion.allCases.map(\.rawValue)), "no later version of TLS",
                TLSVersion.init(rawValue:)
            ) {
                $0.highestTLS = $1
            }.different("`default` is refused"),
            .flag(
                nil, "keylog", \.logsKeys,
                "write the keys of TLS to `$SSLKEYLOGFILE`"
            ).ours
                .more(
                    "for a look with Wireshark; the file is enough to read everything; without the option the variable has no effect"
                ),
        ])

    private static func lowest(_ word: String, _ version: TLSVersion, _ summary: String) -> OptionRule {
        .flag(nil, word, summary) { $0.lowestTLS = version }
    }
}
