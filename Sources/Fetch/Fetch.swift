// fetch: gets what is behind URLs. A user of the public API, and nothing but that.

import Dispatch
import Foundation
import URLLoading

/// The command.
@main
enum Fetch {
    // Not `async`, which would be Dispatch's from its first moment on.
    static func main() {
        // A reader that goes away is an error of writing like others.
        signal(SIGPIPE, SIG_IGN)
        guard hasDescriptors else {
            Terminal.complain("too few files may be open at a time: raise the limit (ulimit -n)")
            exit(ExitCode.other.rawValue)
        }
        Task {
            let code = await code()
            exit(code.rawValue)
        }
        dispatchMain()
    }

    /// Whether there are as many descriptors as Dispatch takes for itself, for what it waits by, for its timers and for a look at its
    /// threads, and as many again for what this command opens meanwhile. Where Dispatch gets none it ends the process by a signal,
    /// and nobody is told why.
    private static var hasDescriptors: Bool {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        for _ in 0..<8 {
            let descriptor = open("/", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return errno != EMFILE && errno != ENFILE }
            opened.append(descriptor)
        }
        return true
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
