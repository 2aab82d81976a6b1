// A port for tests of a server that is not there, any more or yet.
//
// A port that was only found free, or whose listener has been closed, is not reserved: the next listener of another
// test may get it, or the next connection, and answer in place of the server that is not there.

import URLLoadingSystem

/// A port of 127.0.0.1 that no other test gets.
///
/// A socket is bound to it that does not listen: the system refuses connections to it, does not choose it for sockets
/// that leave the choice to the system, and makes no connection from it. A server that asks for it by its number and
/// with SO_REUSEADDR, as every server of the tests does, still gets it and may listen.
package final class ReservedPort: Sendable {
    /// No port could be had.
    package struct Failure: Error, CustomStringConvertible {
        /// What failed, with its error number.
        package let description: String
    }

    /// The port's number.
    package let number: Int
    private let descriptor: Int32

    /// Takes a port that is free.
    package init() throws(Failure) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(description: "socket: error \(errno)") }
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (socket, size) = (descriptor, length)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        guard isBound else {
            let failure = Failure(description: "bind: error \(errno)")
            close(descriptor)
            throw failure
        }
        number = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit {
        close(descriptor)
    }

    /// Listens there after all, and answers the descriptor, which blocks and is this object's.
    package func startListening() throws(Failure) -> Int32 {
        guard listen(descriptor, 16) == 0 else { throw Failure(description: "listen: error \(errno)") }
        return descriptor
    }

    /// Says that it is wanted up to here: an object may be gone after its last use.
    package func keep() {
        withExtendedLifetime(self) {}
    }
}
