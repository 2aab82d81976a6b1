// Addresses of one family alone, for --ipv4 and --ipv6: the system is asked as ever.

import Dispatch
import Foundation
import URLLoading

/// Looks up names.
enum FamilyResolver {
    /// The addresses of a host. The system's function waits, so a thread waits for it that is not the session's.
    static func addresses(of host: String, _ family: AddressFamily) async throws -> [String] {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try lookUp(host, family) }) }
        }
    }

    private static func lookUp(_ host: String, _ family: AddressFamily) throws -> [String] {
        var hints = addrinfo()
        hints.ai_family = family == .ipv4 ? AF_INET : AF_INET6
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { throw URLError(.cannotFindHost) }
        defer { freeaddrinfo(list) }
        var addresses: [String] = []
        var next = list
        while let entry = next {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let info = entry.pointee
            if getnameinfo(info.ai_addr, info.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 {
                addresses.append(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
            }
            next = info.ai_next
        }
        return addresses
    }
}
