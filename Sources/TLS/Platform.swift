// The few calls of the C library that TLS needs: memory for buffers, and the key log's file. The only file of this
// target that imports it.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Bionic)
    import Bionic
#endif

/// The C library as TLS uses it.
enum Platform {
    /// Opens a file that only its owner may read, to append to; the error's text when that is impossible.
    static func openForAppending(_ path: String) -> Result<Int32, SystemFailure> {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, mode_t(0o600))
        return descriptor >= 0 ? .success(descriptor) : .failure(SystemFailure(text: String(cString: strerror(errno))))
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
