// The words of the command line.
//
// Must not know: cases and drivers.

/// What the program was asked to do.
struct Options {
    var filter: String?
    var every = 1
    var lists = false
    var driver = "urlloading-conformance-driver"
    var json: String?
    var junit: String?
    var jobs = 8
    var cases: String?
    var expectedFailures: String?
    var fuzzSeconds: Int?
    var seed: UInt64 = 1
    var wantsHelp = false

    static let help = """
        usage: conformance [options]

          --filter TEXT             only cases whose group, title or references contain TEXT
          --every N                 only each Nth of these, for a look where all would take too long
          --list                    list the cases in place of running them
          --driver PATH             the driver of the client under test; by default the one built beside this program
          --jobs N                  how many cases run at once, each with a driver of its own (8)
          --json FILE               write the results as JSON
          --junit FILE              write the results as JUnit's XML
          --cases FOLDER            where the case files are; by default those of this package
          --expected-failures FILE  cases that are known to fail; one that passes is a failure
          --fuzz-driver SECONDS     run no cases, but the driver against servers that reply with anything; --seed N, --jobs N

        Exit status: 0 where all cases passed, 1 where one failed, 2 where the run could not begin.
        """

    /// Reads the words; throws a sentence.
    init(_ words: [String]) throws(OptionFault) {
        var words = words[...]
        while let word = words.popFirst() {
            switch word {
            case "--list": lists = true
            case "--help", "-h": wantsHelp = true
            case "--filter": filter = try Self.value(of: word, &words)
            case "--driver": driver = try Self.value(of: word, &words)
            case "--json": json = try Self.value(of: word, &words)
            case "--junit": junit = try Self.value(of: word, &words)
            case "--cases": cases = try Self.value(of: word, &words)
            case "--expected-failures": expectedFailures = try Self.value(of: word, &words)
            case "--every":
                guard let number = Int(try Self.value(of: word, &words)), number > 0 else {
                    throw OptionFault("--every takes a number from 1")
                }
                every = number
            case "--jobs":
                guard let number = Int(try Self.value(of: word, &words)), (1...64).contains(number) else {
                    throw OptionFault("--jobs takes a number from 1 to 64")
                }
                jobs = number
            case "--fuzz-driver":
                guard let number = Int(try Self.value(of: word, &words)), number > 0 else {
                    throw OptionFault("--fuzz-driver takes a number of seconds")
                }
                fuzzSeconds = number
            case "--seed":
                guard let number = UInt64(try Self.value(of: word, &words)) else {
                    throw OptionFault("--seed takes a number")
                }
                seed = number
            default: throw OptionFault("\(word) is no option; --help lists them")
            }
        }
    }

    private static func value(of option: String, _ words: inout ArraySlice<String>) throws(OptionFault) -> String {
        guard let value = words.popFirst() else { throw OptionFault("\(option) takes a value") }
        return value
    }
}

/// What is wrong with the command line.
struct OptionFault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
