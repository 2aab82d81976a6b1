// The decoders of content codings that are the system's own libraries, found at run time (B16.51). They are here and
// not above, because a call of theirs works in memory alone, as zlib's does. Nothing that a peer sends names a library.

import CURLLoadingCodings

/// Brotli's decoder as the system has it.
package struct BrotliLibrary: Sendable, Equatable {
    let functions: urlloading_brotli

    /// Loads a library; nil where it is missing, or lacks a function that is needed.
    package init?(_ name: String) {
        var functions = urlloading_brotli()
        guard urlloading_brotli_load(name, &functions) == 1 else { return nil }
        self.functions = functions
    }

    /// Whether both are the same library: no two have their functions in the same places.
    package static func == (left: BrotliLibrary, right: BrotliLibrary) -> Bool {
        left.functions.decode == right.functions.decode
    }
}

/// Zstandard's decoder as the system has it.
package struct ZstandardLibrary: Sendable, Equatable {
    let functions: urlloading_zstandard

    /// Loads a library; nil where it is missing, or lacks a function that is needed.
    package init?(_ name: String) {
        var functions = urlloading_zstandard()
        guard urlloading_zstandard_load(name, &functions) == 1 else { return nil }
        self.functions = functions
    }

    /// Whether both are the same library: no two have their functions in the same places.
    package static func == (left: ZstandardLibrary, right: ZstandardLibrary) -> Bool {
        left.functions.decode == right.functions.decode
    }
}

/// Which decoders there are besides zlib.
package struct CodingLibraries: Sendable {
    /// Undoes br; nil where it is not installed.
    package let brotli: BrotliLibrary?
    /// Undoes zstd; nil where it is not installed.
    package let zstandard: ZstandardLibrary?

    /// Makes a choice of decoders.
    package init(brotli: BrotliLibrary?, zstandard: ZstandardLibrary?) {
        self.brotli = brotli
        self.zstandard = zstandard
    }

    /// Those of this process: looked for once, when they are first asked for, and never unloaded.
    package static let system = CodingLibraries(
        brotli: BrotliLibrary("libbrotlidec.so.1"), zstandard: ZstandardLibrary("libzstd.so.1"))

    /// No decoder but zlib.
    package static let none = CodingLibraries(brotli: nil, zstandard: nil)

    /// The value of Accept-Encoding that names the codings that can be undone (B5.18).
    ///
    /// The words stand here whole, since a text that is put together is counted by each request that is sent with it.
    package var acceptEncoding: String {
        switch (brotli != nil, zstandard != nil) {
        case (false, false): "gzip, deflate"
        case (true, false): "gzip, deflate, br"
        case (false, true): "gzip, deflate, zstd"
        case (true, true): "gzip, deflate, br, zstd"
        }
    }
}
