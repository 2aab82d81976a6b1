#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A folder that is gone with its owner.
final class TemporaryFolder {
    struct Failure: Error {}

    let path: String
    private var files: [String] = []

    init() throws {
        var template = Array("/tmp/urlloading-trust-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure() }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for file in files { unlink(file) }
        rmdir(path)
    }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        let file = path + "/" + name
        guard let handle = fopen(file, "w") else { throw Failure() }
        defer { fclose(handle) }
        fputs(text, handle)
        files.append(file)
        return file
    }
}
