// A client of the comparison: warms up, measures, and prints one line of JSON. Peers/README.md has the details.

import Foundation

guard let options = ClientOptions(Array(CommandLine.arguments.dropFirst())), let urls = options.urls else {
    Console.complain("usage: client get|download|save|upload --url URL [options of Peers/README.md]")
    exit(64)
}

// Anchors come to this library by the variables of OpenSSL, to FoundationNetworking by its own.
if let anchors = options.anchors {
    var isDirectory: ObjCBool = false
    _ = FileManager.default.fileExists(atPath: anchors, isDirectory: &isDirectory)
    setenv("SSL_CERT_FILE", isDirectory.boolValue ? "/dev/null" : anchors, 1)
    setenv("SSL_CERT_DIR", isDirectory.boolValue ? anchors : "/dev/null", 1)
    if !isDirectory.boolValue { setenv("URLSessionCertificateAuthorityInfoFile", anchors, 1) }
}

var limit = rlimit()
if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

let client = SessionClient(options, urls: urls)
if options.warmup > 0 {
    await client.run(Phase(quota: options.warmup, seconds: 0))
}
let clocks = Clocks()
let phase = Phase(quota: options.requests, seconds: options.seconds)
await client.run(phase)
let totals = phase.totals
Console.say(clocks.report(totals, client: SessionClient.name))
exit(totals.errors == 0 ? 0 : 1)
