// JSON sent by an upload task with a completion handler.

import Foundation
import URLLoading

/// What a customer wants.
public struct Order: Codable {
    /// The customer's number.
    public let customerId: String
    /// What is wanted.
    public let items: [String]

    /// Makes an order.
    public init(customerId: String, items: [String]) {
        self.customerId = customerId
        self.items = items
    }
}

/// Sends an order and calls back with the server's answer.
public func upload(
    _ order: Order, to url: URL, then report: @escaping @Sendable (Int, String?, Error?) -> Void
) throws {
    let body = try JSONEncoder().encode(order)
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    let task = URLSession.shared.uploadTask(with: request, from: body) { data, response, error in
        if let error = error {
            report(0, nil, error)
            return
        }
        guard let response = response as? HTTPURLResponse, (200...299).contains(response.statusCode) else {
            report((response as? HTTPURLResponse)?.statusCode ?? 0, nil, nil)
            return
        }
        if let mimeType = response.mimeType, mimeType == "application/json", let data = data {
            report(response.statusCode, String(data: data, encoding: .utf8), nil)
        } else {
            report(response.statusCode, nil, nil)
        }
    }
    task.resume()
}
