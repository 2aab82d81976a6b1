// Requests with many header fields, and answers all of whose fields are looked at.

import Foundation

#if FOUNDATION_NETWORKING
    import FoundationNetworking
#else
    import URLLoading
#endif

/// Loads whole bodies, as `data(from:)` does.
enum FieldTransfers {
    /// Loads a URL and gives the length of its body.
    static func get(_ url: URL, _ options: ClientOptions, by session: URLSession) async throws -> Int {
        #if FOUNDATION_NETWORKING
            Console.unsupported("fields of a request")
        #else
            var request = URLRequest(url: url)
            for number in 0..<options.fields {
                request.setValue("a value of some length", forHTTPHeaderField: "X-Field-\(number)")
            }
            let (body, response) = try await session.data(for: request)
            try SessionClient.check(response)
            if options.readsFields, (response as? HTTPURLResponse)?.allHeaderFields.isEmpty ?? true {
                throw UnexpectedStatus(status: nil)
            }
            return body.count
        #endif
    }
}
