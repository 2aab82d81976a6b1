// Downloads onto disks that refuse them. Each runs in a process of its own, because the directory for temporary files and
// the limit of a file's size belong to the process.

import Foundation
import LoopbackServer
import Testing
import URLLoading

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

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
                    let code = await codeThrown { _ = try await session.download(from: url) }
                    #expect(code == .cannotCreateFile)
                }
                // Nothing is wrong with the session.
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
            var limit = rlimit(rlim_cur: 200_000, rlim_max: 200_000)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            try await withServer(router: { _ in .generated(length: 30_000_000) }) { server in
                let session = URLSession(configuration: .default)
                let done = Signal()
                let result = Box<(URL?, URLError?)>((nil, nil))
                session.downloadTask(with: try server.at("/")) { location, _, error in
                    result.value = (location, error as? URLError)
                    done.fire()
                }.resume()
                await done.wait()
                #expect(result.value.0 == nil)
                #expect(result.value.1?.code == .cannotWriteToFile)
                #expect(result.value.1?.failingURL == (try server.at("/")))
                #expect((result.value.1?.userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .EFBIG)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
                session.invalidateAndCancel()
            }
        }
    }
}
