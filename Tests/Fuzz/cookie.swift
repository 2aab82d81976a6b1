// Set-Cookie fields through a whole jar, and any bytes as the file it is kept in and as a list of suffixes. Whatever
// comes in, what goes out belongs to the request it goes with and can stand in a field.

import URLLoadingWire

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCookie(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    let host = hosts[input.choose(below: UInt8(hosts.count))]
    let path = paths[input.choose(below: UInt8(paths.count))]
    let scheme = input.choose(below: 2) == 0 ? "http" : "https"
    guard let place = CookiePlace(scheme: scheme, host: host, port: nil, path: path) else { finding("no place") }
    readFile(input.bytes)
    readList(input.bytes)

    var jar = CookieJar(limits: CookieLimits(inDomain: 4, inAll: 6, crowd: 2), recordsTouched: true)
    for (number, field) in input.bytes.split(separator: 0x0A).enumerated() {
        receive(field, from: place, into: &jar, now: Double(number))
        expect(jar.count <= 6, "too many")
    }
    let all = jar.all(100)
    expect(CookieFile.decode(CookieFile.encode(all)) == all, "the file")
    for host in hosts { send(to: host, from: &jar) }
    _ = jar.adopt(all, now: 100)
    expect(jar.all(100).count == all.count, "its own cookies are no news")
    return 0
}

private let hosts = ["example.com", "www.example.com", "localhost", "10.0.0.1", "::1", "a.co.uk", "github.io"]
private let paths = ["/", "/a/b", "//", "/a?b/c"]

private func receive(_ field: ArraySlice<UInt8>, from place: CookiePlace, into jar: inout CookieJar, now: Double) {
    guard let read = SetCookie(field) else { return }
    expect(!read.name.isEmpty && Cookie.isText(read.name) && Cookie.isText(read.value), "name or value")
    // A byte that is no UTF-8 takes two as text.
    expect(read.name.utf8.count + read.value.utf8.count <= 2 * SetCookie.mostPairBytes, "too long")
    // By its first byte: what follows may be a mark that makes one character of both.
    expect(read.path.map { $0.utf8.first == UInt8(ascii: "/") } ?? true, "path")
    let cookie = Cookie(read, from: place, now: now)
    expect(cookie.path.utf8.first == UInt8(ascii: "/") && !cookie.domain.isEmpty, "path or domain")
    expect((cookie.expires ?? 0) <= now + 400 * 86_400, "lasts too long")
    var isChanged = false
    let refusal = jar.receive(
        cookie, from: CookieContext(place), now: now, suffixes: { .builtIn }, isChanged: &isChanged)
    expect(refusal == nil || !isChanged, "refused and kept")
    if let kept = jar.cookie(cookie.identity), refusal == nil {
        expect(kept.isHostOnly || !PublicSuffixes.builtIn.isPublicSuffix(kept.domain), "for a public suffix")
        expect(!kept.isSecure || place.isSecure, "Secure over http")
    }
}

private func send(to host: String, from jar: inout CookieJar) {
    guard let place = CookiePlace(scheme: "http", host: host, port: nil, path: "/a/b") else { finding("no place") }
    let sent = jar.cookies(for: CookieContext(place), now: 100, suffixes: { .builtIn })
    for cookie in sent {
        expect(cookie.isHostOnly ? cookie.domain == host : place.isWithin(domain: cookie.domain), "foreign")
        expect(!cookie.isSecure && !cookie.isExpired(100) && "/a/b".hasPrefix(cookie.path), "not for this request")
    }
    let field = jar.field(for: CookieContext(place), now: 100, suffixes: { .builtIn })
    expect(field.map { Cookie.isText($0) } ?? true, "not a field's value")
    let parts = sent.map { $0.name + "=" + $0.value }
    expect(field ?? "" == parts.joined(separator: "; ") && (field == nil) == sent.isEmpty, "another field")
}

private func readFile(_ bytes: [UInt8]) {
    guard let cookies = CookieFile.decode(bytes) else { return }
    expect(CookieFile.decode(CookieFile.encode(cookies)) == cookies, "a file that reads differently when written again")
}

/// As many as a list must have to be one.
private let rules = Array((0..<100).map { "a\($0)\n" }.joined().utf8)

private func readList(_ bytes: [UInt8]) {
    guard let suffixes = PublicSuffixes(list: rules + bytes) else { finding("no list") }
    for host in hosts {
        expect(host.hasSuffix(String(suffixes.site(of: host))), "a site that is not the host's")
        _ = suffixes.isPublicSuffix(host)
    }
}
