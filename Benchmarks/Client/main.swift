// A client of the comparison: warms up, measures, and prints one line of JSON. Peers/README.md has the details.

import Foundation
import Synchronization

guard let options = ClientOptions(Array(CommandLine.arguments.dropFirst())), let urls = options.urls else {
    Console.complain("usage: client get|download|save|upload|websocket --url URL [options of Peers/README.md]")
    exit(64)
}

// Anchors come by the variables of OpenSSL; FoundationNetworking's are seen to by
// Peers/foundation-networking/anchors.c.
if let anchors = options.anchors {
    var about = stat()
    let isDirectory = stat(anchors, &about) == 0 && about.st_mode & S_IFMT == S_IFDIR
    setenv("SSL_CERT_FILE", isDirectory ? "/dev/null" : anchors, 1)
    setenv("SSL_CERT_DIR", isDirectory ? anchors : "/dev/null", 1)
}

// As many descriptors as the system allows.
let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
var limit = rlimit()
if getrlimit(descriptors, &limit) == 0 {
    limit.rlim_cur = limit.rlim_max
    setrlimit(descriptors, &limit)
}

let client = SessionClient(options, urls: urls)
// The main thread waits in the plainest way there is: the one that `await` at the top level would take uses a system
// call that stops valgrind, which counts this program's instructions.
let hasFailed = Atomic(false)
let ended = DispatchSemaphore(value: 0)
Task.detached {
    if options.warmup > 0 {
        await client.run(Phase(quota: options.warmup, seconds: 0))
    }
    let clocks = Clocks()
    let phase = Phase(quota: options.requests, seconds: options.seconds)
    await client.run(phase)
    let totals = phase.totals
    Console.say(clocks.report(totals, client: SessionClient.name))
    hasFailed.store(totals.errors > 0, ordering: .relaxed)
    ended.signal()
}
ended.wait()
exit(hasFailed.load(ordering: .relaxed) ? 1 : 0)
