// The one blocking call: getaddrinfo. Runs on a helper thread. Must not know caches, loops or ports.

/// A look-up by the system's name service.
enum NameLookup {
    /// Every address of `host`, in the system's order, with port 0.
    ///
    /// AI_ADDRCONFIG is not asked for: it hides addresses by what interfaces exist at this moment, so that on a machine
    /// with IPv4 only "localhost" loses ::1 and names that exist are reported missing. An address of a family that has
    /// no route fails at once when it is tried, and RFC 6724 puts it last.
    static func addresses(of host: String) -> Result<[SocketAddress], ResolverFailure> {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = streamSocketType
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &list)
        let systemError = errno
        guard code == 0 else {
            return .failure(failure(code, host: host, systemError: systemError))
        }
        defer { freeaddrinfo(list) }
        var found: [SocketAddress] = []
        var next = list
        while let entry = next {
            if let pointer = entry.pointee.ai_addr,
                let address = SocketAddress(system: pointer, length: entry.pointee.ai_addrlen),
                !found.contains(address)
            {
                found.append(address)
            }
            next = entry.pointee.ai_next
        }
        if found.isEmpty {
            return .failure(failure(urlloading_eai_nodata, host: host, systemError: 0))
        }
        return .success(found)
    }

    /// Whether this machine knows by itself what the name stands for: "localhost", and numbers such as "127.1" or
    /// "0x7f000001", which are no literals.
    static func isOfThisMachine(_ host: String) -> Bool {
        if host == "localhost" { return true }
        guard let first = host.utf8.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
        var address = in_addr()
        return inet_aton(host, &address) != 0
    }

    /// A code of getaddrinfo, in our words.
    static func failure(_ code: Int32, host: String, systemError: Int32) -> ResolverFailure {
        let reason: ResolverFailure.Reason
        switch code {
        case EAI_NONAME, urlloading_eai_nodata, urlloading_eai_addrfamily: reason = .noSuchHost
        case EAI_AGAIN: reason = .temporary
        default: reason = .failed
        }
        var message = gai_strerror(code).map { String(cString: $0) } ?? "error \(code)"
        if code == EAI_SYSTEM {
            message += " (\(SystemError(errno: systemError, call: "getaddrinfo").message))"
        }
        // Files and sockets that could not be opened make it say anything, that there is no such name for instance.
        let cause = SystemError(errno: systemError, call: "getaddrinfo")
        let shortage = code == EAI_SYSTEM && cause.isOutOfDescriptors ? cause : DescriptorLimit.shortage()
        return ResolverFailure(reason: reason, code: code, host: host, message: message, shortage: shortage)
    }
}

#if canImport(Glibc)
    private let streamSocketType = Int32(SOCK_STREAM.rawValue)
#else
    private let streamSocketType = SOCK_STREAM
#endif
