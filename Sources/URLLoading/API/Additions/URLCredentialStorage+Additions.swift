// Credentials that outlive the process, which Apple keeps in the keychain. Ours, and documented as such.

import Foundation

extension URLCredentialStorage {
    /// Ours: a storage whose `.permanent` passwords are kept in a file, where later runs find them (B2.55).
    ///
    /// The file holds passwords in the clear. It is made with mode 0600 and replaced as a whole with every change; one
    /// that belongs to another user or that others may read throws a `FileError`, and so does one that holds something
    /// else. A file that is not there holds nothing. Use it in one process at a time: the last one to change something
    /// decides what is in it.
    public convenience init(permanentCredentialsIn file: URL) throws {
        let (opened, records) = try CredentialFile.open(file)
        self.init(file: opened, records: records)
    }

    /// Ours: what kept the last change out of the file; nil when the file holds what the storage does. The credentials
    /// are then in memory only, and the next change is tried anew.
    public var fileError: FileError? { file?.failure }

    /// Ours: why a file of credentials cannot be used.
    public struct FileError: LocalizedError, Equatable, CustomStringConvertible {
        /// One sentence that names the file, and no secret.
        public let description: String

        /// The sentence of `description`.
        public var errorDescription: String? { description }

        init(_ description: String) { self.description = description }
    }
}
