// Apache httpd as a process: what every configuration of it has in common here, and how it is started and known to be
// ready. It runs in one process, in the foreground, with its log on its output.

import Foundation

extension PeerProcess {
    /// Starts Apache in a directory, where its files are, with these modules, settings and
    /// variables of the environment.
    static func apache(
        _ program: String, in directory: PeerDirectory, on port: Int, as name: String = "peers.test",
        modules: [String], variables: [String] = [], _ settings: String
    ) async throws -> PeerProcess {
        let path = directory.path
        let loaded = modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }
        let common = """
            ServerName \(name)
            Listen 127.0.0.1:\(port)
            PidFile \(path)/httpd.pid
            DefaultRuntimeDir \(path)
            \(loaded.joined(separator: "\n"))
            \(geteuid() == 0 ? "User www-data\nGroup www-data" : "")
            ErrorLog /dev/stderr
            LogLevel warn mpm_event:debug

            """
        try directory.write(common + settings, to: "httpd.conf")
        let process = try PeerProcess(
            "/usr/bin/env", variables + [program, "-X", "-d", path, "-f", "\(path)/httpd.conf"])
        // In one process Apache does not say that it is ready; only the module does whose threads then accept.
        try await process.line(containing: "start_threads: Using epoll")
        return process
    }
}
