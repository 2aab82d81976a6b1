// Finds the machine's root certificates and reads single ones of them. Directories with OpenSSL's hashed names are read
// one file at a time; bundles are indexed by subject without decoding the certificates. Does not judge.

import Synchronization

/// Files and directories that hold root certificates.
package final class SystemStore: Sendable {
    /// Every place that was looked at, in order.
    package let searched: [String]
    private let directories: [String]
    private let files: [String]
    /// Which files these were when the store was found.
    private let identities: [Platform.FileIdentity?]
    /// Whether directory and bundle are no two forms of one list, so that one of them can reject what the other has.
    private let asksBoth: Bool
    private let bundle = Mutex<BundleIndex?>(nil)

    /// Whether no place held anything.
    package var isMissing: Bool { directories.isEmpty && files.isEmpty }

    /// Looks at the places that the environment names, else at the distributions' usual ones (B3.6).
    package static func find(
        certificateFile: String? = Platform.environment("SSL_CERT_FILE"),
        certificateDirectories: String? = Platform.environment("SSL_CERT_DIR"),
        usualFiles: [String] = SystemStore.usualFiles, usualDirectories: [String] = SystemStore.usualDirectories
    ) -> SystemStore {
        if certificateFile != nil || certificateDirectories != nil {
            let directories = certificateDirectories?.split(separator: ":").map(String.init) ?? []
            return SystemStore(
                files: certificateFile.map { [$0] } ?? [], directories: directories, takesEveryFile: true)
        }
        return SystemStore(files: usualFiles, directories: usualDirectories, takesEveryFile: false)
    }

    private init(files candidates: [String], directories places: [String], takesEveryFile: Bool) {
        searched = candidates + places
        var files: [String] = []
        var directories: [String] = []
        for place in places {
            let (isHashed, loose) = Self.inspect(place)
            if isHashed { directories.append(place) } else if takesEveryFile { files += loose }
        }
        // The usual files are several names for one bundle: the first that exists is enough.
        files +=
            takesEveryFile
            ? candidates.filter(Platform.isReadableFile)
            : candidates.first(where: Platform.isReadableFile).map { [$0] } ?? []
        self.files = files
        identities = files.map(Platform.identity)
        asksBoth = takesEveryFile
        self.directories = takesEveryFile ? directories : Array(directories.prefix(1))
    }

    /// Whether what was found later in the same places is another store, or can be read where this one could not.
    func isOutdated(beside later: SystemStore) -> Bool {
        directories != later.directories || files != later.files || identities != later.identities
            || bundle.withLock { $0?.lacksFile ?? false }
    }

    /// Every certificate of this subject name: from the directories, or from the bundle where there are none; from
    /// both where the environment names them.
    ///
    /// A thorough look-up asks the bundle in any case, because an administrator may have changed only one of them, and
    /// asks it by the name's hash, because one name can be encoded in several ways. A certificate that is in both
    /// comes twice where the bundle has settings beside it.
    func certificates(_ subject: SubjectName, isThorough: Bool) -> [Certificate] {
        let hashed = directories.flatMap { Self.read(hash: subject.hash, in: $0) }
        if files.isEmpty || (!directories.isEmpty && !isThorough && !asksBoth) { return hashed }
        let bundled = bundle.withLock { index in
            var present = index ?? BundleIndex(files: files)
            index = nil
            defer { index = present }
            return isThorough
                ? present.certificates(subjectHash: subject.hash) : present.certificates(subject: subject.encoded)
        }
        return hashed + bundled.filter { AnchorSettings.exist(beside: $0) || !hashed.contains($0) }
    }

    /// OpenSSL's names are eight hexadecimal digits, a dot, and a number that counts equal hashes from 0.
    private static func read(hash: UInt, in directory: String) -> [Certificate] {
        let digits = String(hash, radix: 16)
        let stem = directory + "/" + String(repeating: "0", count: max(0, 8 - digits.count)) + digits + "."
        var found: [Certificate] = []
        for number in 0..<Self.equalHashes {
            guard let text = Platform.contents(of: stem + String(number)) else { break }
            // A file that is no certificate is passed over, as it anchors nothing.
            found += (try? PEM.certificates(in: text)) ?? []
        }
        return found
    }

    private static func inspect(_ directory: String) -> (isHashed: Bool, looseFiles: [String]) {
        var isHashed = false
        var loose: [String] = []
        _ = Platform.forEachEntry(of: directory) { name in
            isHashed = isHashedName(name)
            if name.hasSuffix(".pem") || name.hasSuffix(".crt") || name.hasSuffix(".cer") {
                loose.append(directory + "/" + name)
            }
            return !isHashed
        }
        return (isHashed, loose.filter(Platform.isReadableFile))
    }

    private static func isHashedName(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        return bytes.count > 9 && bytes[8] == UInt8(ascii: ".")
            && bytes[..<8].allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
            && bytes[9...].allSatisfy { (0x30...0x39).contains($0) }
    }

    private static let equalHashes = 64

    /// Bundles of Debian, Ubuntu, Arch and Alpine; Fedora and Red Hat, old and new; SUSE; and the BSD name that some
    /// have.
    package static let usualFiles = [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/ssl/ca-bundle.pem",
        "/var/lib/ca-certificates/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    /// Directories with hashed names of the same distributions.
    package static let usualDirectories = [
        "/etc/ssl/certs",
        "/etc/pki/ca-trust/extracted/pem/directory-hash",
        "/var/lib/ca-certificates/openssl",
        "/etc/pki/tls/certs",
    ]
}

/// A name to look certificates up by.
struct SubjectName {
    /// The hash of its canonical form, under which directories file certificates.
    let hash: UInt
    /// As it stands in a certificate.
    let encoded: [UInt8]
}
