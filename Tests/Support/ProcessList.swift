// Processes that tests have started, found by their arguments.

import URLLoadingSystem

/// The processes that were started with all of these texts in their arguments, but for this one.
package func processes(naming texts: String...) -> [pid_t] {
    ProcessFiles.entries(of: "/proc").compactMap { pid_t($0) }.filter { process in
        guard process != getpid() else { return false }
        let line = ProcessFiles.contents("/proc/\(process)/cmdline")
        return texts.allSatisfy { line.contains($0) }
    }
}

/// Ends what a test has started that has come to no end of its own, because the test has failed.
package func endProcesses(naming text: String) {
    for process in processes(naming: text) { kill(process, SIGKILL) }
}
