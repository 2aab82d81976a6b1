// What the tests of authentication share: refusals, answers, hash functions, and credentials taken apart again.

import Testing
import URLLoadingPolicy
import URLLoadingTrust
import URLLoadingWire

extension HashFunctions {
    /// The hash functions of OpenSSL.
    static let openSSL = HashFunctions { algorithm, bytes in
        switch algorithm {
        case .md5: nil
        case .sha256: SecureHash.sha256.hash(bytes)
        case .sha512_256: SecureHash.sha512_256.hash(bytes)
        }
    }
}

extension AuthenticationFreshness {
    /// With a nonce that is known before, and no time.
    static func fixed(_ base64: String = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ") -> AuthenticationFreshness {
        AuthenticationFreshness(bytes: Base64.decode(base64) ?? [], secondsSince1970: 0)
    }
}

extension ResponseHead {
    /// A 401 with these challenges, each in a field of its own.
    static func refusal(_ challenges: String..., status: Int = 401) -> ResponseHead {
        var head = ResponseHead(status: status)
        for challenge in challenges {
            head.fields.append(status == 401 ? .wwwAuthenticate : .proxyAuthenticate, challenge)
        }
        return head
    }

    /// A 200 with Authentication-Info.
    static func success(info: String? = nil) -> ResponseHead {
        var head = ResponseHead(status: 200)
        if let info { head.fields.append(.authenticationInfo, info) }
        return head
    }
}

/// A machine with the request it is for; each step is told in words.
struct AuthenticationRig {
    static let password = PasswordCredential(user: "Mufasa", password: "Circle of Life")

    var machine: AuthenticationMachine
    var request = AuthenticatedRequest(method: "GET", target: "/dir/index.html")
    var freshness = AuthenticationFreshness.fixed()
    /// What was sent last.
    private(set) var sent: Authorization?

    init(
        _ side: AuthenticationSide, allows: Set<AuthenticationMethod> = Set(AuthenticationMethod.allCases),
        usesTicketUnasked: Bool = false
    ) {
        machine = AuthenticationMachine(side: side, allows: allows, usesTicketUnasked: usesTicketUnasked)
    }

    /// With https://server.test.
    init(usesTicketUnasked: Bool = false) throws {
        self.init(.server(try AuthenticationRig.origin()), usesTicketUnasked: usesTicketUnasked)
    }

    static func origin(_ host: String = "server.test", scheme: Scheme = .https) throws -> Origin {
        try #require(Origin(scheme: scheme, host: host))
    }

    mutating func refused(_ challenges: String...) -> String {
        var head = ResponseHead(status: 401)
        for challenge in challenges { head.fields.append(machine.side.challengeField, challenge) }
        return refused(by: head)
    }

    mutating func refused(by head: ResponseHead) -> String {
        told(machine.refused(head, request: request, freshness: freshness))
    }

    mutating func answered(_ answer: AuthenticationMachine.Answer) -> String {
        told(machine.answered(answer, freshness: freshness))
    }

    mutating func accepted(info: String? = nil) -> AuthenticationMachine.Acceptance? {
        machine.accepted(.success(info: info), request: request, hashes: .openSSL)
    }

    /// What became of what was sent last.
    mutating func acceptance(info: String? = nil) throws -> AuthenticationMachine.Acceptance {
        let acceptance = accepted(info: info)
        return try #require(acceptance)
    }

    /// The field that was sent last.
    func field(bodyHash: [UInt8]? = nil) -> String? {
        sent?.field(for: request, bodyHash: bodyHash, hashes: .openSSL)
    }

    /// The parameters of the field that was sent last.
    func parameters(bodyHash: [UInt8]? = nil) throws -> AuthenticationChallenge {
        let parameters = field(bodyHash: bodyHash).flatMap(Self.takenApart)
        return try #require(parameters)
    }

    /// Credentials have the form of a challenge (RFC 9110 §11.4).
    static func takenApart(_ field: String) -> AuthenticationChallenge? {
        var fields = Fields()
        fields.append(.authorization, field)
        return fields.challenges(.authorization).first
    }

    private mutating func told(_ step: AuthenticationMachine.Step) -> String {
        switch step {
        case .ask(let space, let failures): return "ask \(space.method) \(space.realm ?? "-") \(failures)"
        case .negotiate(_, let challenge): return "negotiate \(challenge ?? "-")"
        case .send(let authorization):
            sent = authorization
            return "send \(authorization.space.method)"
        case .deliver: return "deliver"
        }
    }
}
