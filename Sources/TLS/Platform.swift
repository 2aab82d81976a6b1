// The few calls of the C library that TLS needs: memory for buffers, and the key log's file. The only file of this
// target that imports it.

import CURLLoadingPlatform

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Bionic)
    import Bionic
#endif

/// The C library as TLS uses it.
enum Platform {
    /// Opens a regular file to append to, which only its owner may read where it is made; the error's text when that
    /// is impossible. A loop calls this: it waits for no reader of a pipe, as none of the later writes does.
    static func openForAppending(_ path: String) -> Result<Int32, SystemFailure> {
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let opened = open(path, flags, mode_t(0o600))
        guard opened >= 0 else { return .failure(SystemFailure(text: String(cString: strerror(errno)))) }
        var status = stat()
        guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            return .failure(SystemFailure(text: "it is not a regular file"))
        }
        // B16.85: what a program prints that has closed its standard descriptors would go into the file.
        return .success(urlloading_move_above_standard(opened))
    }

    /// Writes as much as one call takes; lines appended in one call stay whole.
    static func append(_ bytes: [UInt8], to descriptor: Int32) {
        _ = write(descriptor, bytes, bytes.count)
    }

    /// Closes a descriptor.
    static func close(_ descriptor: Int32) {
        #if canImport(Glibc)
            _ = Glibc.close(descriptor)
        #else
            _ = Musl.close(descriptor)
        #endif
    }

    /// Grows or shrinks a block of memory; nil leaves the old one as it was.
    static func resize(_ block: UnsafeMutableRawPointer?, to count: Int) -> UnsafeMutableRawPointer? {
        realloc(block, count)
    }

    /// Gives a block back.
    static func release(_ block: UnsafeMutableRawPointer?) {
        free(block)
    }
}

/// What the system said about a failed call.
struct SystemFailure: Error {
    let text: String
}
