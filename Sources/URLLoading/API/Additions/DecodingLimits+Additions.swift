// What a compressed body may come to. These settings are ours.

import Foundation

extension URLSessionConfiguration {
    /// Ours: the most bytes that a compressed body may come to. A load whose body would come to more fails with
    /// `URLError.dataLengthExceedsMaximum` once that shows; what was delivered before is no more than this. Bodies that
    /// are not compressed are not counted: for these the server pays itself.
    ///
    /// Where it is `nil`, the default, bodies that are delivered piece by piece or go to a file have no limit, as on
    /// Apple's platforms; one that is collected in memory, for `data(for:)`, `upload(for:from:)` or a completion
    /// handler, may come to a gibibyte (B16.76). `.max` lifts that, and a negative number counts as 0.
    /// A background session that has it carries its transfers in the program itself.
    public var maximumDecodedBytes: Int64? {
        get { value(\.maximumDecodedBytes) }
        set { assign(\.maximumDecodedBytes, newValue) }
    }

    /// Ours: the most bytes that a compressed body may come to for each of its own bytes. A load whose body comes to
    /// more fails with `URLError.dataLengthExceedsMaximum` once that shows. It counts where a body has come to more
    /// than a mebibyte: what is shorter is no danger, and may be very regular (B16.75).
    ///
    /// Where it is `nil`, the default, bodies that are delivered piece by piece or go to a file have no limit, as on
    /// Apple's platforms; one that is collected in memory may come to 200 bytes for each once it has come to more than
    /// 64 MiB (B16.76). `.max` lifts that, and a number below 1 counts as 1. A background session that has it carries
    /// its transfers in the program itself.
    public var maximumDecodedRatio: Int64? {
        get { value(\.maximumDecodedRatio) }
        set { assign(\.maximumDecodedRatio, newValue) }
    }
}

extension URLRequest {
    /// Ours: the most bytes that the body of the answer may come to where it is compressed, in place of what the
    /// session's configuration says; `nil`, the default, leaves it to that. Redirects keep it, and it holds in
    /// background sessions, too.
    public var maximumDecodedBytes: Int64? {
        get { values.maximumDecodedBytes }
        set { values.maximumDecodedBytes = newValue }
    }

    /// Ours: the most bytes that the body of the answer may come to for each compressed one, in place of what the
    /// session's configuration says; `nil`, the default, leaves it to that. Redirects keep it, and it holds in
    /// background sessions, too.
    public var maximumDecodedRatio: Int64? {
        get { values.maximumDecodedRatio }
        set { values.maximumDecodedRatio = newValue }
    }
}
