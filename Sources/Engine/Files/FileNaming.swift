// How the files of downloads are called, whole and in part. What is named in part may be taken up again by code that
// knows its name; so nothing else may be called like that. Must not know directories.

import URLLoadingSystem

/// The names of one kind of files.
package struct FileNaming: Sendable {
    /// What every name begins with.
    package let prefix: String
    /// What the name of a file ends with that is being written for the first time, or is whole.
    package let suffix: String
    /// What the name of a file ends with that is left for later.
    package let partialSuffix: String

    /// Those of downloads (B9.4).
    package static let downloads = FileNaming(
        prefix: "CFNetworkDownload_", suffix: ".tmp", partialSuffix: ".partial")

    /// Whether a name, which may come from anywhere, is one of a file that was left for later.
    package func isPartial(_ name: String) -> Bool {
        TemporaryFile.isName(name, prefix: prefix, suffix: partialSuffix)
    }
}

/// A file that has the first bytes of something.
package struct PartialFile: Sendable {
    /// The file.
    package let file: TemporaryFile
    /// How many bytes; more may stand behind them, which count for nothing.
    package let byteCount: Int64

    /// A file with so many bytes.
    package init(file: TemporaryFile, byteCount: Int64) {
        self.file = file
        self.byteCount = byteCount
    }
}
