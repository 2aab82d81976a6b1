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
        // Control-\ ends the process. Swift's runtime may have taken the signal to write a report of a crash.
        if !Interruption.isIgnored(SIGQUIT) { signal(SIGQUIT, SIG_DFL) }
        // Swift reads the words from there, and Dispatch ends a process at some moment that cannot
        // look at its threads there.
        guard CommandLine.argc > 0 else {
            Terminal.complain("the command line cannot be read: /proc is not there", advice: "mount -t proc proc /proc")
            exit(ExitCode.other.rawValue)
        }
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

    /// Whether there are as many descriptors as Dispatch takes for itself, for what it waits by, for its timers and for
    /// a look at its threads, and as many again for what this command opens meanwhile. Where Dispatch gets none it ends
    /// the process by a signal, without a word.
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
        let groups: [Options]
        do throws(UsageError) {
            let arguments = try arguments()
            switch try CommandLineReading.read(arguments, files: OptionFiles.read) {
            case .help(let topic):
                guard let text = Help.text(topic) else { throw UsageError("there is no option \(topic ?? "")") }
                return show(text)
            case .version: return show(Help.version)
            case .generate(let text): return show(text.text)
            case .fetch(let read): groups = read
            }
        } catch {
            Terminal.complain(
                error.message, advice: error.advice ?? (error.code == .usage ? "fetch --help tells more" : nil))
            return error.code
        }
        do throws(FetchError) {
            if let file = groups.first?.reportFile { try Terminal.tell(into: file) }
            let runs = try Run.all(groups)
            return await Interruption.cancelling { await Run.run(runs) }
        } catch {
            if groups.first?.complains ?? true { Terminal.complain(error.message, advice: error.advice) }
            return error.code
        }
    }

    /// The words behind the command's name. Swift's own list has other bytes where a word is not UTF-8: another file
    /// would be meant.
    private static func arguments() throws(UsageError) -> [String] {
        var arguments: [String] = []
        for number in 1..<max(1, Int(CommandLine.argc)) {
            guard let word = CommandLine.unsafeArgv[number] else { break }
            guard let text = String(validatingCString: word) else {
                throw UsageError(
                    "word \(number) behind fetch is not UTF-8",
                    advice: "--data-binary @FILE sends a file's bytes as they are")
            }
            arguments.append(text)
        }
        return arguments
    }

    private static func show(_ text: String) -> ExitCode {
        Terminal.write(Data(text.utf8)) == 0 ? .success : .cannotWrite
    }
}
