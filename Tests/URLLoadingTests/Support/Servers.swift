// Servers for the tests of this target.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

extension LoopbackServer {
    /// A path of this server.
    func at(_ path: String = "/", host: String? = nil) throws -> URL {
        try #require(URL(string: url(path, host: host)))
    }
}

/// The code of the `URLError` that a call throws; `nil` when it throws none.
func codeThrown(_ body: () async throws -> Void) async -> URLError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? URLError)?.code
    }
}
