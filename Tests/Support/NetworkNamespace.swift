// A network of its own for one thread: at first it has nothing but a loopback interface that is down.

import URLLoadingSystem

/// Moves the calling thread into a network namespace of its own.
package enum NetworkNamespace {
    /// Whether this process may do so; tried on a thread that then ends.
    package static let isAllowed: Bool = {
        var thread = pthread_t()
        let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { _ in
            NetworkNamespace.enter() ? UnsafeMutableRawPointer(bitPattern: 1) : nil
        }
        guard pthread_create(&thread, nil, body, nil) == 0 else { return false }
        var result: UnsafeMutableRawPointer?
        pthread_join(thread, &result)
        return result != nil
    }()

    /// The calling thread's network is another from now on.
    package static func enter() -> Bool {
        // The header hides the call behind _GNU_SOURCE.
        guard let symbol = dlsym(nil, "unshare") else { return false }
        let unshare = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
        return unshare(newNetworkNamespace) == 0
    }

    /// Sets the loopback interface of the calling thread's network up, which gives it its addresses and routes.
    package static func bringLoopbackUp() -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // struct ifreq: the interface's name, then its flags.
        var request = [UInt8](repeating: 0, count: 40)
        request.replaceSubrange(0..<2, with: "lo".utf8)
        request[16] = UInt8(IFF_UP)
        return request.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            return ioctl(descriptor, UInt(setInterfaceFlags), start) == 0
        }
    }

    private static let newNetworkNamespace: Int32 = 0x4000_0000
    private static let setInterfaceFlags = 0x8914
    private static let IFF_UP = 1
}
