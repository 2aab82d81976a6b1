// The servers of a run and the files that they serve, in a directory that is gone afterwards.

import Foundation

/// Everything that clients are sent to.
final class ServerFarm {
    private let scale: Scale
    /// Where everything of a run lies.
    let directory: URL
    private let material: Material
    private var children: [ChildProcess] = []
    private var ports: [Scenario.Place.Server: Int] = [:]

    /// The server that answers where speed matters, with its version.
    private(set) var fastServer = "LoopbackServer"

    /// Makes the files and starts the servers.
    init(scale: Scale, usesNginx: Bool, contestants: [Contestant]) throws {
        self.scale = scale
        let template = FileManager.default.temporaryDirectory.appendingPathComponent("benchmarks-\(getpid())")
        try FileManager.default.createDirectory(at: template, withIntermediateDirectories: true)
        directory = template
        material = try Material(in: directory, scale: scale)
        try startLoopback()
        if usesNginx, let nginx = Nginx.find() { try start(nginx) }
        if let echo = contestants.first(where: { $0.name == "websockets" }) { try startEcho(echo) }
    }

    /// Whether there is a server that the scenario's clients can be sent to.
    func hasServer(for scenario: Scenario) -> Bool { ports[scenario.place.server] != nil }

    /// Stops the servers and removes the files.
    func close() {
        for child in children {
            child.terminate()
            _ = child.wait(limit: .seconds(1_000_000))
        }
        children = []
        try? FileManager.default.removeItem(at: directory)
    }

    /// The command line for a client in a scenario.
    func arguments(for scenario: Scenario, _ contestant: Contestant) -> [String] {
        let host = scenario.origins > 1 ? "127.0.1.{}" : "127.0.0.1"
        let port = ports[scenario.place.server] ?? 0
        let scheme = scenario.place.isSecure ? "https" : "http"
        var arguments = [scenario.operation, "--url", "\(scheme)://\(host):\(port)\(scenario.place.path)"]
        func add(_ name: String, _ value: Int, unless ordinary: Int) {
            if value != ordinary { arguments += [name, "\(value)"] }
        }
        add("--connections", scenario.connections, unless: 1)
        if let tasks = scenario.tasks { add("--tasks", tasks, unless: scenario.connections) }
        add("--origins", scenario.origins, unless: 1)
        add("--sessions", scenario.sessions, unless: 1)
        add("--warmup", scenario.warmup, unless: 0)
        var anchors = Scenario.Anchors.file
        switch scenario.amount {
        case .seconds(let seconds): arguments += ["--seconds", "\(seconds)"]
        case .requests(let count): add("--requests", count, unless: 1)
        case .processes(_, let form): anchors = form
        }
        if scenario.gzip { arguments.append("--gzip") }
        if scenario.place.isHTTP2 { arguments.append("--http2") }
        if contestant.needsAnchorFile { anchors = .file }
        if scenario.place.isSecure { arguments += ["--cacert", material.anchors(anchors).path] }
        switch scenario.operation {
        case "save": arguments += ["--file", savedFile.path]
        case "upload": arguments += ["--file", material.upload(small: contestant.uploadsSlowly).path]
        default: break
        }
        return arguments + contestant.arguments
    }

    /// Reads what a client will send, so that every run finds it in memory.
    func readAhead(_ scenario: Scenario, _ contestant: Contestant) throws {
        guard scenario.operation == "upload" else { return }
        let file = try FileHandle(forReadingFrom: material.upload(small: contestant.uploadsSlowly))
        defer { try? file.close() }
        while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty {}
    }

    /// Removes what the client before has saved.
    ///
    /// Otherwise a client that writes beside it and then replaces it needs twice the memory of one that overwrites it,
    /// and pays for the disk's back-log of the one before.
    func clearAway(_ scenario: Scenario) throws {
        guard scenario.operation == "save", FileManager.default.fileExists(atPath: savedFile.path) else { return }
        try FileManager.default.removeItem(at: savedFile)
    }

    private var savedFile: URL { directory.appendingPathComponent("saved") }

    // MARK: - Starting

    /// This program once more, as the server of last resort and for all that nginx cannot do.
    private func startLoopback() throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let child = try ChildProcess(program, ["serve", directory.path], on: Processors.pair?.server)
        children.append(child)
        guard let line = child.firstLine(), let found = ServeCommand.Ports(line) else {
            throw HarnessError("the server did not start: \(child.wait(limit: .zero).complaints)")
        }
        ports = [
            .fast: found.plain, .scripted: found.plain, .fastTLS: found.secure, .scriptedTLS: found.secure,
            .fastTLSWithoutTickets: found.secureWithoutTickets, .fastHTTP2: found.http2, .scriptedHTTP2: found.http2,
        ]
    }

    /// Serves as well as it is served.
    private func startEcho(_ peer: Contestant) throws {
        let child = try ChildProcess(peer.program, ["serve"], on: Processors.pair?.server)
        children.append(child)
        // Where the module is not installed there is no such server.
        if let port = child.firstLine().flatMap({ Int($0) }) { ports[.websockets] = port }
    }

    private func start(_ nginx: Nginx) throws {
        let free = try Nginx.freePorts()
        let text = nginx.configuration(
            material, at: free)
        let file = directory.appendingPathComponent("nginx.conf")
        try Data(text.utf8).write(to: file)
        let log = directory.appendingPathComponent("nginx.log").path
        let child = try ChildProcess(
            nginx.program, ["-p", directory.path, "-c", file.path, "-e", log], on: Processors.pair?.server)
        children.append(child)
        guard Nginx.answers(at: free.plain) else {
            throw HarnessError("nginx did not start: \((try? String(contentsOfFile: log, encoding: .utf8)) ?? "")")
        }
        ports[.fast] = free.plain
        ports[.fastTLS] = free.secure
        ports[.fastTLSWithoutTickets] = free.secureWithoutTickets
        ports[.fastHTTP2] = free.http2
        fastServer = nginx.version
    }
}
