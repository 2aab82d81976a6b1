// The code of the article on streaming about compressed bodies, which SampleTests looks for here.

import Foundation
import URLLoading

/// The article's code, within a function that tests call.
public enum LimitsGuide {
    /// The body of a page; nil where it is too long.
    public static func page(_ url: URL, in session: URLSession) async throws -> Data? {
        var request = URLRequest(url: url)
        request.maximumDecodedBytes = 1 << 20
        request.maximumDecodedRatio = 50
        do {
            return try await session.data(for: request).0
        } catch let error as URLError where error.code == .dataLengthExceedsMaximum {
            print(error.localizedDescription)  // names the limit, and what was reached
            return nil
        }
    }
}
