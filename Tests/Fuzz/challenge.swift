// Challenges and the parameters of Authentication-Info. What was read can be written and is then read back equal, and
// other fields change nothing of it.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzChallenge(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    let kind = input.choose(below: 3)
    let text = String(decoding: input.bytes, as: UTF8.self)
    switch kind {
    case 0: challenges(text)
    case 1: parameters(text)
    default: base64(text)
    }
    return 0
}

private func challenges(_ text: String) {
    let found = fields(text).challenges(.wwwAuthenticate)
    for challenge in found {
        expect(Tokens.isToken(challenge.scheme), "the scheme \(challenge.scheme)")
        expect(challenge.scheme == challenge.scheme.lowercased(), "the scheme \(challenge.scheme) is not lower-case")
        expect(challenge.token == nil || challenge.parameters.isEmpty, "a token and parameters")
        expect(challenge.parameters.allSatisfy { Tokens.isToken($0.name) }, "a name that is none")
    }
    let written = found.map(written)
    expect(fields(written.joined(separator: ", ")).challenges(.wwwAuthenticate) == found, "in one field: \(written)")
    expect(fields(written.joined(separator: "\n")).challenges(.wwwAuthenticate) == found, "in many fields: \(written)")
    let between = ["NTLM", text, "Basic realm=x"].joined(separator: "\n")
    let all = fields(between).challenges(.wwwAuthenticate)
    expect(all.first?.scheme == "ntlm" && all.last?.scheme == "basic", "its neighbours are gone")
    expect(Array(all.dropFirst().dropLast()) == found, "its neighbours changed it")
}

private func parameters(_ text: String) {
    let found = fields(text).authenticationParameters(.wwwAuthenticate)
    let again = found.map(written).joined(separator: ", ")
    expect(fields(again).authenticationParameters(.wwwAuthenticate) == found, "read as something else: \(again)")
}

private func base64(_ text: String) {
    expect(Base64.decode(Base64.encode(text.utf8)) == Array(text.utf8), "base64 changes bytes")
    if let bytes = Base64.decode(text) {
        expect(Base64.decode(Base64.encode(bytes)) == bytes, "base64 of \(text) changes bytes")
    }
}

/// A field for each line.
private func fields(_ text: String) -> Fields {
    var fields = Fields()
    for line in text.utf8.split(separator: 10, omittingEmptySubsequences: false) {
        fields.append(.wwwAuthenticate, String(decoding: line, as: UTF8.self))
    }
    return fields
}

private func written(_ challenge: AuthenticationChallenge) -> String {
    if let token = challenge.token { return "\(challenge.scheme) \(token)" }
    if challenge.parameters.isEmpty { return challenge.scheme }
    return "\(challenge.scheme) \(challenge.parameters.map(written).joined(separator: ", "))"
}

private func written(_ parameter: AuthenticationParameter) -> String {
    var value: [UInt8] = []
    for byte in parameter.value.utf8 {
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { value.append(UInt8(ascii: "\\")) }
        value.append(byte)
    }
    return "\(parameter.name)=\"\(String(decoding: value, as: UTF8.self))\""
}
