// The one door to libc for system calls: each is retried when a signal interrupts it and answers with an error number
// instead of a global variable. Knows nothing of streams, loops or names.

/// System calls in the form this module uses them.
enum Platform {
    /// A call's result: `error` is 0 unless it failed.
    struct Outcome<Value> {
        let value: Value
        let error: Int32

        var failed: Bool { error != 0 }
    }

    /// Runs `body`, again while a signal interrupts it; a negative result is a failure.
    @inline(__always)
    static func call<Value: SignedInteger>(_ body: () -> Value) -> Outcome<Value> {
        while true {
            let value = body()
            if value >= 0 {
                return Outcome(value: value, error: 0)
            }
            let error = errno
            if error != EINTR {
                return Outcome(value: value, error: error == 0 ? EIO : error)
            }
        }
    }

    // MARK: Descriptors

    static func closeDescriptor(_ raw: Int32) {
        // Linux frees the number whatever close() answers: a second try after EINTR could hit another file.
        _ = close(raw)
    }

    /// The number to keep for a descriptor that was just opened: where that is one of a standard descriptor, another.
    static func aboveStandard(_ raw: Int32) -> Int32 {
        urlloading_move_above_standard(raw)
    }

    static func wake(_ raw: Int32) {
        var one: UInt64 = 1
        _ = call { write(raw, &one, MemoryLayout<UInt64>.size) }
    }

    /// Takes one signal off an eventfd; false when there is none.
    static func takeToken(_ raw: Int32) -> Bool {
        var value: UInt64 = 0
        return !call { read(raw, &value, MemoryLayout<UInt64>.size) }.failed
    }

    /// Waits until `raw` is readable; false when `milliseconds` passed first.
    static func waitReadable(_ raw: Int32, milliseconds: Int32) -> Bool {
        var item = pollfd(fd: raw, events: Int16(POLLIN), revents: 0)
        let outcome = call { poll(&item, 1, milliseconds) }
        return outcome.value > 0
    }

    static func pause(milliseconds: Int32) {
        _ = poll(nil, 0, milliseconds)
    }

    // MARK: Files

    static func openForReading(_ path: String) -> Outcome<Int32> {
        LoopWatch.note("open")
        return call { urlloading_open_for_reading(path) }
    }

    static func length(ofFile raw: Int32) -> Outcome<Int64> {
        call { urlloading_file_length(raw) }
    }

    static func isMadeWhenRead(_ raw: Int32) -> Bool {
        urlloading_is_made_when_read(raw) != 0
    }

    static func readFile(_ raw: Int32, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Outcome<Int> {
        LoopWatch.note("read")
        return call { urlloading_read_at(raw, buffer.baseAddress, buffer.count, offset) }
    }

    static func readCached(
        _ raw: Int32, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
    ) -> Outcome<Int> {
        call { urlloading_read_cached(raw, buffer.baseAddress, buffer.count, offset) }
    }

    /// A hint: failure changes nothing.
    static func willReadInOrder(_ raw: Int32) {
        urlloading_will_read_in_order(raw)
    }

    // MARK: Sockets

    static func receive(_ raw: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Outcome<Int> {
        call { recv(raw, buffer.baseAddress, buffer.count, 0) }
    }

    /// Looks at the first byte without taking it.
    static func peek(_ raw: Int32) -> Outcome<Int> {
        call { urlloading_peek(raw) }
    }

    /// Whether the other side of a connection has neither ended nor reset it.
    static func isConnected(_ raw: Int32) -> Bool {
        let outcome = peek(raw)
        return outcome.failed ? isTemporarilyBlocked(outcome.error) : outcome.value > 0
    }

    static func send(_ raw: Int32, _ bytes: UnsafeRawBufferPointer) -> Outcome<Int> {
        call { urlloading_send(raw, bytes.baseAddress, bytes.count) }
    }

    static func send(
        _ raw: Int32, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer
    ) -> Outcome<Int> {
        call { urlloading_send2(raw, first.baseAddress, first.count, second.baseAddress, second.count) }
    }

    /// Lets the kernel move bytes of a file; the loop's threads block SIGPIPE.
    static func send(_ raw: Int32, file: Int32, offset: Int64, count: Int) -> Outcome<Int> {
        call { urlloading_send_file(raw, file, offset, count) }
    }

    static func shutdownWriting(_ raw: Int32) -> Outcome<Int32> {
        call { shutdown(raw, Int32(SHUT_WR)) }
    }

    /// Ends a listening socket, also for other processes that have it open.
    static func stopListening(_ raw: Int32) {
        _ = call { shutdown(raw, Int32(SHUT_RDWR)) }
    }

    /// The error a socket holds, which reading it clears.
    static func pendingError(_ raw: Int32) -> Int32 {
        var value: Int32 = 0
        let outcome = call { urlloading_get_option(raw, SOL_SOCKET, SO_ERROR, &value) }
        return outcome.failed ? outcome.error : value
    }

    /// How a TCP socket's bytes reach its peer; nil where the system does not tell.
    static func delivery(_ raw: Int32) -> Delivery? {
        var unacknowledged: Int32 = 0
        var sinceSent: UInt32 = 0
        var sinceAcknowledged: UInt32 = 0
        let outcome = call { urlloading_delivery(raw, &unacknowledged, &sinceSent, &sinceAcknowledged) }
        guard !outcome.failed else { return nil }
        return Delivery(
            unacknowledged: Int(unacknowledged),
            age: .milliseconds(unacknowledged > 0 ? sinceAcknowledged : sinceSent))
    }

    static func socketPair() throws(SystemError) -> (Int32, Int32) {
        var first: Int32 = -1
        var second: Int32 = -1
        let outcome = call { urlloading_socket_pair(&first, &second) }
        if outcome.failed {
            throw SystemError(errno: outcome.error, call: "socketpair")
        }
        return (first, second)
    }

    /// A non-blocking stream socket that no child process inherits.
    static func socket(family: Int32) throws(SystemError) -> Descriptor {
        let outcome = call { urlloading_socket(family) }
        if outcome.failed {
            throw SystemError(errno: outcome.error, call: "socket")
        }
        return Descriptor(owning: outcome.value)
    }

    /// A non-blocking socket on which the kernel tells of links, addresses and routes that come and go.
    static func routingSocket() throws(SystemError) -> Descriptor {
        let outcome = call { urlloading_routing_socket() }
        if outcome.failed {
            throw SystemError(errno: outcome.error, call: "socket")
        }
        return Descriptor(owning: outcome.value)
    }

    static func bind(_ raw: Int32, to address: SocketAddress) -> Outcome<Int32> {
        address.withSystemAddress { pointer, length in call { urlloading_bind(raw, pointer, length) } }
    }

    /// EINTR is no failure here: the connection goes on being made (POSIX), and its end is reported like any other.
    static func connect(_ raw: Int32, to address: SocketAddress) -> Int32 {
        let result = address.withSystemAddress { pointer, length in urlloading_connect(raw, pointer, length) }
        let error = result == 0 ? 0 : errno
        return error == EINTR ? EINPROGRESS : error
    }

    /// A path that is bound next will be for its owner only.
    static func restrictToOwner(socket raw: Int32) -> Outcome<Int32> {
        call { urlloading_restrict_socket(raw) }
    }

    /// Whether the process at the other end of a UNIX-domain socket acts for the same user as this one.
    static func isOwn(peer raw: Int32) -> Bool {
        var user: UInt32 = 0
        return urlloading_peer_user(raw, &user) == 0 && user == geteuid()
    }

    static func listen(_ raw: Int32, backlog: Int32) -> Outcome<Int32> {
        call { urlloading_listen(raw, backlog) }
    }

    static func accept(_ raw: Int32, _ remote: inout SocketAddress?) -> Outcome<Int32> {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                let outcome = call { urlloading_accept(raw, pointer, &length) }
                if !outcome.failed {
                    remote = SocketAddress(system: pointer, length: min(length, socklen_t(storageSize)))
                }
                return outcome
            }
        }
    }

    private static let storageSize = MemoryLayout<sockaddr_storage>.size

    /// Errors that accept(2) passes on from the one connection it was about to return.
    static func isAboutOnePeer(_ error: Int32) -> Bool {
        switch error {
        case ECONNABORTED, EPROTO, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, ENETDOWN, ENETUNREACH, EOPNOTSUPP,
            EPERM:
            true
        default:
            false
        }
    }

    /// Leaves the choice of a local port to `connect`.
    ///
    /// A hint: failure changes nothing.
    static func bindWithoutPort(_ raw: Int32) {
        _ = urlloading_bind_without_port(raw)
    }

    static func bind(_ raw: Int32, toInterface name: String) -> Outcome<Int32> {
        call { urlloading_bind_to_device(raw, name) }
    }

    static func makeCloseAbortive(_ raw: Int32) {
        _ = urlloading_set_abortive_close(raw)
    }

    // MARK: Files that are written

    static let fileExists = EEXIST

    /// Makes a file that was not there, for its owner only.
    static func createExclusively(_ path: String) -> Outcome<Int32> {
        LoopWatch.note("open")
        return call { urlloading_create_exclusively(path) }
    }

    static func openExisting(_ path: String) -> Outcome<Int32> {
        LoopWatch.note("open")
        return call { urlloading_open_existing(path) }
    }

    static func isPrivate(file raw: Int32, at path: String) -> Bool { urlloading_is_private_file(raw, path) != 0 }

    /// Whether a file is the one that has this name.
    static func isNamed(file raw: Int32, _ path: String) -> Bool { urlloading_is_named(raw, path) != 0 }

    static func findPrivateFile(_ path: String) -> Outcome<Int32> {
        LoopWatch.note("lstat")
        return call { urlloading_find_private_file(path) }
    }

    /// What went wrong in taking room for bytes to come; nil too where the file system cannot say.
    static func reserve(_ raw: Int32, from offset: Int64, count: Int64) -> Int32? {
        let outcome = call { urlloading_reserve(raw, offset, count) }
        switch outcome.error {
        case ENOSPC, EFBIG, EDQUOT: return outcome.failed ? outcome.error : nil
        default: return nil
        }
    }

    /// The number with which a write fails that finds no room.
    static let noRoom = ENOSPC

    /// How many bytes can still be written where a file lies; nil where that is not known.
    static func freeRoom(for raw: Int32) -> Int64? {
        let room = urlloading_free_room(raw)
        return room < 0 ? nil : room
    }

    static func seek(_ raw: Int32, to offset: Int64) -> Outcome<Int64> {
        call { urlloading_seek(raw, offset) }
    }

    /// Where the first hole behind a place begins; the file's end where there is none.
    static func nextHole(_ raw: Int32, from offset: Int64) -> Outcome<Int64> {
        call { urlloading_next_hole(raw, offset) }
    }

    /// Writes to a pipe whose reader may be gone.
    static func sendToPipe(_ raw: Int32, _ bytes: UnsafeRawBufferPointer) -> Outcome<Int> {
        let before = signal(SIGPIPE, SIG_IGN)
        defer { signal(SIGPIPE, before) }
        return append(raw, bytes)
    }

    static func append(_ raw: Int32, _ bytes: UnsafeRawBufferPointer) -> Outcome<Int> {
        call { write(raw, bytes.baseAddress, bytes.count) }
    }

    /// Closes a descriptor and answers the error number with which it failed; it is closed in any case.
    static func closeReporting(_ raw: Int32) -> Int32 {
        close(raw) == 0 || errno == EINTR ? 0 : errno
    }

    /// Waits until the disk has what was written.
    static func synchronise(_ raw: Int32) -> Outcome<Int32> {
        LoopWatch.note("fsync")
        return call { fsync(raw) }
    }

    static func rename(_ path: String, to other: String) -> Outcome<Int32> {
        call { urlloading_rename(path, other) }
    }

    /// Makes a directory for its owner only; one that is there already is fine.
    static func makeDirectory(_ path: String) -> Outcome<Int32> {
        let outcome = call { urlloading_make_directory(path) }
        return outcome.error == EEXIST ? Outcome(value: 0, error: 0) : outcome
    }

    static func isOwn(file raw: Int32) -> Bool { urlloading_is_own_file(raw) != 0 }

    static func openLock(_ path: String) -> Outcome<Int32> {
        LoopWatch.note("open")
        return call { urlloading_open_lock(path) }
    }

    static func tryLock(_ raw: Int32) -> Outcome<Int32> {
        LoopWatch.note("flock")
        return call { urlloading_try_lock(raw) }
    }

    static func trySharedLock(_ raw: Int32) -> Outcome<Int32> {
        LoopWatch.note("flock")
        return call { urlloading_try_shared_lock(raw) }
    }

    /// Nothing is to be done about a failure: the lock goes with the descriptor then.
    static func unlock(_ raw: Int32) {
        _ = urlloading_unlock(raw)
    }

    static func openLog(_ path: String) -> Outcome<Int32> {
        LoopWatch.note("open")
        return call { urlloading_open_log(path) }
    }

    static func identity(ofFile raw: Int32) -> (identity: FileIdentity, names: UInt64)? {
        var (inode, length, changed, names): (UInt64, Int64, Int64, UInt64) = (0, 0, 0, 0)
        guard urlloading_file_identity(raw, &inode, &length, &changed, &names) == 0 else { return nil }
        return (FileIdentity(inode: inode, byteCount: length, changedAt: changed), names)
    }

    static func isPrivateDirectory(_ path: String) -> Bool { urlloading_is_private_directory(path) != 0 }

    static func shorten(_ raw: Int32, to length: Int64) -> Outcome<Int32> {
        call { urlloading_shorten(raw, length) }
    }

    /// The names in a directory, without those that begin with a dot.
    static func names(in directory: String) -> [String] {
        guard case .success(let names) = allNames(in: directory) else { return [] }
        return names.filter { !$0.hasPrefix(".") }
    }

    /// All names in a directory but itself and the one above, or why they cannot be had.
    static func allNames(in directory: String) -> Result<[String], SystemError> {
        LoopWatch.note("opendir")
        guard let stream = opendir(directory) else { return .failure(SystemError(errno: errno, call: "opendir")) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                field.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: field.pointee)) {
                    String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return .success(names)
    }

    static func openDirectory(_ path: String) -> Outcome<Int32> {
        LoopWatch.note("open")
        return call { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    }

    static func removeDirectory(_ path: String) { _ = rmdir(path) }

    static func isUnsupported(_ error: Int32) -> Bool { error == EINVAL || error == ENOTSUP || error == EROFS }

    /// Removes a path from the file system; an absent one is fine.
    /// Whether there is no such file now.
    @discardableResult
    static func remove(path: String) -> Bool { unlink(path) == 0 || errno == ENOENT }

    static func exists(path: String) -> Bool { access(path, F_OK) == 0 }

    static func set(_ raw: Int32, level: Int32, option: Int32, to value: Int32) -> Outcome<Int32> {
        call { urlloading_set_option(raw, level, option, value) }
    }

    static func isTemporarilyBlocked(_ error: Int32) -> Bool {
        error == EAGAIN || error == EWOULDBLOCK
    }

    /// The process or the machine has run out of something that others will give back.
    static func isShortage(_ error: Int32) -> Bool {
        error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM
    }

    /// An environment variable; nil when it is not set.
    static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Writes to the standard error output. A failure is told nowhere, nor by a signal.
    static func complain(_ text: String) {
        var text = text
        text.withUTF8 { urlloading_complain($0.baseAddress, $0.count) }
    }

    // MARK: Options by name

    static let levelTCP = Int32(IPPROTO_TCP)
    static let levelSocket = SOL_SOCKET
    static let noDelay = TCP_NODELAY
    static let keepAlive = SO_KEEPALIVE
    static let keepAliveIdle = TCP_KEEPIDLE
    static let keepAliveInterval = TCP_KEEPINTVL
    static let userTimeout = TCP_USER_TIMEOUT
    static let reuseAddress = SO_REUSEADDR
    static let sendBuffer = SO_SNDBUF
    static let receiveBuffer = SO_RCVBUF
    static let receiveLowWater = SO_RCVLOWAT

    // MARK: Threads

    /// Starts a thread with every signal blocked.
    ///
    /// Returns its handle, or the error number.
    static func startThread(
        detached: Bool, body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?,
        argument: UnsafeMutableRawPointer
    ) -> Outcome<UInt> {
        var handle: UInt = 0
        // Musl's default stack is 128 KiB, too little for the name service modules getaddrinfo may load.
        let error = urlloading_start_thread(&handle, detached ? 1 : 0, 2 << 20, body, argument)
        return Outcome(value: handle, error: error)
    }

    static func joinThread(_ handle: UInt) {
        _ = urlloading_join_thread(handle)
    }

    static func nameCurrentThread(_ name: String) {
        urlloading_name_current_thread(name)
    }

    static var currentThread: UInt { urlloading_current_thread() }

    /// Nanoseconds of the clock that goes on while the machine sleeps: `ContinuousClock`'s.
    static var continuousNanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    static var wallMicroseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) &* 1_000_000 &+ Int64(time.tv_nsec) / 1_000
    }

    static var processorCount: Int { Int(urlloading_processor_count()) }
}
