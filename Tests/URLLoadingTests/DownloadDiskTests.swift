// Downloads onto disks that refuse them. Each runs in a process of its own, because the directory for temporary files
// and the limit of a file's size belong to the process.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Downloads onto disks that refuse them")
struct DownloadDiskTests {
    @Test("B9.11, B17.46: a file that cannot be made is −3000, also when the body is empty")
    func noDirectory() async {
        await #expect(processExitsWith: .success) {
            setenv("TMPDIR", "/nowhere/at/all", 1)
            try await withServer(router: { $0.path == "/empty" ? .status(200) : .generated(length: 3_000_000) }) {
                server in
                let session = URLSession(configuration: .default)
                for path in ["/", "/empty"] {
                    let url = try server.at(path)
                    let error = await #expect(throws: URLError.self) { _ = try await session.download(from: url) }
                    #expect(error?.code == .cannotCreateFile)
                    let text = error?.localizedDescription
                    #expect(text?.hasSuffix("could not be made in /nowhere/at/all: No such file or directory") == true)
                }
                // The session goes on loading.
                _ = try await session.data(from: try server.at("/"))
                session.invalidateAndCancel()
            }
        }
    }

    @Test("B9.5, B9.11, B17.46: a file that cannot grow is −3003; nothing is delivered, and nothing is left of it")
    func noRoom() async {
        await #expect(processExitsWith: .success) {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("full-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: folder) }
            setenv("TMPDIR", folder.path, 1)
            // The process that started the tests may have told them to ignore this signal.
            signal(SIGXFSZ, SIG_DFL)
            var limit = rlimit(rlim_cur: 200_000, rlim_max: 200_000)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            try await withServer(router: { _ in .generated(length: 30_000_000) }) { server in
                let session = URLSession(configuration: .default)
                let done = Signal()
                let result = Guarded<(URL?, URLError?)>((nil, nil))
                session.downloadTask(with: try server.at("/")) { location, _, error in
                    result.value = (location, error as? URLError)
                    done.fire()
                }.resume()
                await done.wait()
                #expect(result.value.0 == nil)
                #expect(result.value.1?.code == .cannotWriteToFile)
                let text = result.value.1?.localizedDescription
                #expect(text?.hasSuffix("could not be written in \(folder.path): File too large") == true)
                #expect(result.value.1?.failingURL == (try server.at("/")))
                #expect((result.value.1?.userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .EFBIG)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
                session.invalidateAndCancel()
            }
        }
    }

    @Test(
        "B9.11: a download that a full disk has ended goes on when there is room again; only the resume data's file is left"
    )
    func noRoomForNow() async {
        await #expect(processExitsWith: .success) {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("full-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: folder) }
            setenv("TMPDIR", folder.path, 1)
            signal(SIGXFSZ, SIG_DFL)
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let usual = limit.rlim_cur
            // Room for more than one piece of the body; a piece that is not written whole does not count.
            limit.rlim_cur = 2_000_000
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            try await withServer(router: { .generated(length: 3_000_000, tag: "\"v1\"", to: $0) }) { server in
                let session = URLSession(configuration: .default)
                let url = try server.at("/")
                var failure: URLError?
                do { _ = try await session.download(from: url) } catch { failure = error as? URLError }
                #expect(failure?.code == .cannotWriteToFile)
                let data = try #require(failure?.downloadTaskResumeData)
                #expect(
                    try FileManager.default.contentsOfDirectory(atPath: folder.path)
                        == [try partialFile(of: data).lastPathComponent])
                limit.rlim_cur = usual
                setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
                var again: URLError?
                var result: (URL, URLResponse)?
                do { result = try await session.download(resumeFrom: data) } catch { again = error as? URLError }
                #expect(again?.code == nil, "\(String(describing: again))")
                let (location, response) = try #require(result)
                #expect((response as? HTTPURLResponse)?.statusCode == 206)
                let content = try Data(contentsOf: location)
                #expect(content.count == 3_000_000)
                #expect(content.withUnsafeBytes { GeneratedBytes.matches($0, at: 0) })
                session.invalidateAndCancel()
            }
        }
    }

    @Test("B9.33: a part that cannot be opened for want of a descriptor is not taken for one that is gone")
    func noDescriptor() async {
        await #expect(processExitsWith: .success) {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("part-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: folder) }
            setenv("TMPDIR", folder.path, 1)
            let router: LoopbackServer.Router = { request in
                if request.fields.first(.range) != nil {
                    return .generated(length: 300_000, tag: "\"v1\"", to: request)
                }
                let head = "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\nETag: \"v1\"\r\nAccept-Ranges: bytes\r\n\r\n"
                return .script([.send(Array(head.utf8) + GeneratedBytes.bytes(100_000)), .close])
            }
            try await withServer(router: router) { server in
                let session = URLSession(configuration: .default)
                let url = try server.at("/")
                var lost: URLError?
                do { _ = try await session.download(from: url) } catch { lost = error as? URLError }
                let data = try #require(lost?.downloadTaskResumeData)
                let done = Signal()
                let result = Guarded<URLError?>(nil)
                let task = session.downloadTask(withResumeData: data) { _, _, error in
                    result.value = error as? URLError
                    done.fire()
                }
                let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
                var limit = rlimit()
                getrlimit(descriptors, &limit)
                let usual = limit.rlim_cur
                limit.rlim_cur = 0
                setrlimit(descriptors, &limit)
                task.resume()
                limit.rlim_cur = usual
                setrlimit(descriptors, &limit)
                await done.wait()
                #expect(result.value?.code == .cannotConnectToHost)
                #expect((result.value?.userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .EMFILE)
                let (location, response) = try await session.download(
                    resumeFrom: try #require(result.value?.downloadTaskResumeData))
                #expect((response as? HTTPURLResponse)?.statusCode == 206)
                let content = try Data(contentsOf: location)
                #expect(content.count == 300_000 && content.withUnsafeBytes { GeneratedBytes.matches($0, at: 0) })
                session.invalidateAndCancel()
            }
        }
    }

    @Test("B9.11: a body that cannot fit is refused when its length is known, not when the disk is full")
    func toldAtOnce() async throws {
        let gate = ServerGate()
        let router: LoopbackServer.Router = { _ in
            .script([
                .send(Array("HTTP/1.1 200 OK\r\nContent-Length: \(Int64.max / 2)\r\n\r\nhello".utf8)), .wait(gate),
            ])
        }
        try await withServer(router: router) { server in
            let session = URLSession(configuration: .default)
            let url = try server.at("/")
            let error = await #expect(throws: URLError.self) { _ = try await session.download(from: url) }
            #expect(error?.code == .cannotWriteToFile)
            let folder = FileManager.default.temporaryDirectory.path
            #expect(error?.localizedDescription.hasPrefix("There is no room for the download in \(folder): ") == true)
            gate.open()
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B9.5, B9.11: a full disk ends a download with -3003, and no file is left on it",
        .enabled(if: SmallDisk.canBeMade, "no file system can be mounted here"), arguments: ["/long", "/known"])
    func fullDisk(path: String) async throws {
        let router: LoopbackServer.Router = { request in
            .generated(length: 30_000_000, framing: request.path == "/long" ? .chunked : .automatic)
        }
        try await withServer(router: router) { server in
            let told = try await SmallDisk.download(server.url(path))
            #expect(told == "-3003 errno 28, no data, 0 files\n")
        }
    }
}

/// Downloads onto a file system of a megabyte that only one process sees.
private enum SmallDisk {
    /// Whether a process may have mounts of its own.
    static let canBeMade: Bool =
        (try? ChildRun("/usr/bin/unshare", ["-m", "mount", "-t", "tmpfs", "-o", "size=1m", "none", "/tmp"]))?.exitCode
        == 0

    /// The lines that tell how the download ended.
    static func download(_ url: String) async throws -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("small-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let words = #"mount -t tmpfs -o size=1m none "$TMPDIR" && exec "$0" resume once "$1""#
        let run = try await ChildRun.run(
            "/usr/bin/unshare", ["-m", "sh", "-c", words, ChildRun.path(of: ChildRun.testPrograms), url],
            changing: ["TMPDIR": folder.path])
        return run.outputText + run.complaintsText
    }
}
