// fetch: gets what is behind URLs. A user of the public API, and nothing but that.

import Foundation
import URLLoading

/// The command.
@main
enum Fetch {
    static func main() async {
        // A reader that goes away is an error of writing like others.
        signal(SIGPIPE, SIG_IGN)
        exit(await code().rawValue)
    }

    private static func code() async -> ExitCode {
        let options: Options
        do throws(UsageError) {
            switch try CommandLineReading.read(Array(CommandLine.arguments.dropFirst())) {
            case .help: return Terminal.write(Data(Help.text.utf8)) == 0 ? .success : .cannotWrite
            case .version: return Terminal.write(Data(Help.version.utf8)) == 0 ? .success : .cannotWrite
            case .fetch(let read): options = read
            }
        } catch {
            Terminal.complain("\(error.message) (fetch --help tells more)")
            return .usage
        }
        do throws(FetchError) {
            let run = try Run(options)
            return await Interruption.cancelling { await run.run() }
        } catch {
            if options.complains { Terminal.complain(error.message) }
            return error.code
        }
    }
}
