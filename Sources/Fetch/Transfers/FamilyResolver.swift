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
        let code = getaddrinfo(host, nil, &hints, &list)
        guard code == 0 else { throw failure(code, family) }
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

    /// A code of getaddrinfo, in the system's words. A name may have an address of the other family.
    private static func failure(_ code: Int32, _ family: AddressFamily) -> URLError {
        let words = gai_strerror(code).map { String(cString: $0) } ?? "error \(code)"
        if [EAI_AGAIN, EAI_FAIL, EAI_SYSTEM].contains(code) {
            return URLError(.dnsLookupFailed, userInfo: [NSLocalizedDescriptionKey: words])
        }
        let asked = family == .ipv4 ? "IPv4" : "IPv6"
        return URLError(
            .cannotFindHost, userInfo: [NSLocalizedDescriptionKey: "\(words); only \(asked) was asked for"])
    }
}
