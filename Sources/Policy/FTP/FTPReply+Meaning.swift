// What a reply means by itself, wherever the transfer stands: what SIZE and MDTM are answered with (RFC 3659 §2.3, §4),
// and refusals (RFC 959 §4.2.2).
//
// Must not know: what is done about it.

extension FTPReply {
    /// The length that SIZE was answered with.
    var size: Int64? {
        guard code == 213 else { return nil }
        // RFC 3659 §4.2: digits and nothing else; the first ones of something else are no length.
        let digits = unspaced.prefix(while: ASCII.isDigit)
        guard unspaced[digits.endIndex...].allSatisfy({ $0 == UInt8(ascii: " ") }) else { return nil }
        return ASCII.decimal(digits)
    }

    /// The date that MDTM was answered with: fourteen digits, perhaps with a fraction.
    var date: String? {
        guard code == 213 else { return nil }
        let date = unspaced.prefix { ASCII.isDigit($0) || $0 == UInt8(ascii: ".") }
        return FTPFileState.isDate(date) ? String(decoding: date, as: UTF8.self) : nil
    }

    private var unspaced: ArraySlice<UInt8> { text.drop { $0 == UInt8(ascii: " ") } }

    /// What it means as a refusal of a command.
    func refusal(of verb: String) -> FTPFailure {
        switch code {
        case 425: .dataConnectionRefused
        case 426, 451: .transferAborted(code: code)
        case 450, 452, 552: .unavailable(code: code)
        case 530: .loginRefused(code: code)
        case 332, 532: .accountRequired
        case 550: verb == "STOR" ? .notPermitted(code: code) : .missing
        case 553: .notPermitted(code: code)
        default: .refused(verb: verb, code: code)
        }
    }
}
