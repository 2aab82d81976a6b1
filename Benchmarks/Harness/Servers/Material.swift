// What servers serve and clients send: bodies, certificates and the roots that lead to them. Made anew for each run,
// always the same but for the keys.

import CURLLoadingOpenSSL
import Foundation
import URLLoadingLoopbackServer
import URLLoadingTrust

/// The files of a run, in its directory.
struct Material {
    static let certificateFile = "server.pem"
    static let keyFile = "server.key"
    static let largeFile = "large"
    static let jsonFile = "json.gz"

    /// The body of the small answers.
    static let smallBody = "Hello, world!"

    /// With the five that servers add themselves these are the 16 fields of a usual answer.
    static let extraFields: [(name: String, value: String)] = [
        ("Cache-Control", "private, max-age=0, must-revalidate"),
        ("ETag", "W/\\\"5d8c72a5edda8d6a4e6f\\\""),
        ("Vary", "Accept-Encoding, Authorization"),
        ("X-Request-Id", "7f9c24e8-3b12-4fef-91e0-5b2a1c9d8e77"),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "strict-origin-when-cross-origin"),
        ("Strict-Transport-Security", "max-age=31536000; includeSubDomains"),
        ("X-RateLimit-Limit", "5000"),
        ("X-RateLimit-Remaining", "4987"),
        ("Content-Language", "en"),
    ]

    /// About 1.5 KB of JSON, as an interface would answer with.
    static let document: String = {
        let items = (0..<10).map { number in
            #"{"id":\#(number * 7_919 + 104_729),"name":"item \#(number)","price":\#(number * 37 + 199),"#
                + #""tags":["alpha","beta","gamma"],"available":\#(number % 3 != 0),"updated":"2024-05-0\#(number % 9 + 1)"}"#
        }
        return #"{"items":[\#(items.joined(separator: ","))],"next":"/items?page=2","total":1043}"#
    }()

    private let directory: URL

    /// Makes the files.
    init(in directory: URL, scale: Scale) throws {
        self.directory = directory
        try makeCertificates()
        try makeEmptyFile(Material.largeFile, size: scale.largeBody)
        try makeEmptyFile("small-upload", size: scale.smallUpload)
        guard let compressed = Gzip.compress(Material.json(size: scale.json), format: .gzip) else {
            throw HarnessError("the JSON could not be compressed")
        }
        try Data(compressed).write(to: file(Material.jsonFile))
    }

    /// The trusted certificates: those of the system with the one that issued the server's.
    func anchors(_ form: Scenario.Anchors) -> URL {
        switch form {
        case .file: file("roots.pem")
        case .directory: file("roots")
        }
    }

    /// The file that is sent.
    func upload(small: Bool) -> URL {
        file(small ? "small-upload" : Material.largeFile)
    }

    private func file(_ name: String) -> URL {
        directory.appendingPathComponent(name)
    }

    /// A file of zeros that takes no room on the disk.
    private func makeEmptyFile(_ name: String, size: Int) throws {
        let path = file(name).path
        guard FileManager.default.createFile(atPath: path, contents: nil), truncate(path, size) == 0 else {
            throw HarnessError("\(path) could not be made")
        }
    }

    // MARK: - Certificates

    private static let systemBundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
    ]

    private func makeCertificates() throws {
        let (root, identity) = try CertificateFactory.server("127.0.0.1", "localhost")
        try Data(identity.certificatePEM.utf8).write(to: file(Material.certificateFile))
        try Data(identity.keyPEM.utf8).write(to: file(Material.keyFile))

        // As many roots as a real client has to look through.
        let system = Material.systemBundles.lazy.compactMap { FileManager.default.contents(atPath: $0) }.first
        let bundle = system.map { String(decoding: $0, as: UTF8.self) } ?? ""
        try Data((bundle + "\n" + root.pem).utf8).write(to: file("roots.pem"))
        try FileManager.default.createDirectory(at: file("roots"), withIntermediateDirectories: true)
        var taken: [String: Int] = [:]
        for certificate in try Certificate.parse(pem: bundle) + [root] {
            let hash = String(X509_subject_name_hash(certificate.pointer), radix: 16)
            let name = String(repeating: "0", count: 8 - hash.count) + hash
            let number = taken[name, default: 0]
            taken[name] = number + 1
            try Data(certificate.pem.utf8).write(to: file("roots/\(name).\(number)"))
        }
    }

    // MARK: - JSON

    /// Records that compress as real ones do: some text that comes again, some numbers that do not.
    private static func json(size: Int) -> [UInt8] {
        let words = [
            "amber", "basket", "copper", "distant", "eleven", "forest", "granite", "harbour", "island", "journey",
            "kettle", "lantern", "meadow", "north", "orchard", "pepper", "quiet", "river", "silver", "timber",
        ]
        var random = UInt64(0x2545_F491_4F6C_DD1D)
        func next(_ bound: Int) -> Int {
            random ^= random << 13
            random ^= random >> 7
            random ^= random << 17
            return Int(random % UInt64(bound))
        }
        var bytes: [UInt8] = Array("[".utf8)
        bytes.reserveCapacity(size + 512)
        while bytes.count < size {
            let text = (0..<6).map { _ in words[next(words.count)] }.joined(separator: " ")
            let record =
                #"{"id":\#(next(1 << 40)),"user":"\#(words[next(words.count)])\#(next(10_000))","#
                + #""score":\#(next(100_000)).\#(next(100)),"active":\#(next(2) == 0),"text":"\#(text)","#
                + #""created":"2024-\#(10 + next(3))-\#(10 + next(18))T\#(10 + next(14)):\#(10 + next(50)):00Z"},"#
            bytes.append(contentsOf: record.utf8)
        }
        bytes.removeLast()
        bytes.append(UInt8(ascii: "]"))
        return bytes
    }
}
