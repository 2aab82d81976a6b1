// The code of the article on getting started, which SampleTests looks for here block by block.

import Foundation
import URLLoading

func page(at url: URL) async throws -> String {
    let (data, response) = try await URLSession.shared.data(from: url)
    guard let http = response as? HTTPURLResponse, http.statusCode == 200 else {
        throw URLError(.badServerResponse)
    }
    return String(decoding: data, as: UTF8.self)
}

/// The article's functions, each within one that tests call.
public enum GettingStarted {
    /// The page, as the article loads it.
    public static func load(_ url: URL) async throws -> String { try await page(at: url) }

    /// The status with which an order of two pens was met.
    public static func order(at url: URL) async throws -> Int {
        struct Order: Codable {
            var item: String
            var count: Int
        }

        func place(_ order: Order, at url: URL) async throws -> Int {
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = try JSONEncoder().encode(order)
            let (_, response) = try await URLSession.shared.data(for: request)
            return (response as? HTTPURLResponse)?.statusCode ?? 0
        }
        return try await place(Order(item: "pen", count: 2), at: url)
    }

    /// A session that waits for a network, but not for a server.
    public static func session() -> URLSession {
        func patientSession() -> URLSession {
            let configuration = URLSessionConfiguration.default
            configuration.timeoutIntervalForRequest = 10
            configuration.waitsForConnectivity = true
            configuration.httpAdditionalHeaders = ["Accept-Language": "en"]
            return URLSession(configuration: configuration)
        }
        return patientSession()
    }

    /// The page, or what kept it from coming, in words.
    public static func words(for url: URL) async -> String {
        func describe(_ url: URL) async -> String {
            do {
                return try await page(at: url)
            } catch let error as URLError {
                switch error.code {
                case .cannotFindHost: return "there is no \(error.failingURL?.host ?? "such host")"
                case .timedOut, .networkConnectionLost: return "try again"
                default: return error.localizedDescription
                }
            } catch {
                return "\(error)"
            }
        }
        return await describe(url)
    }

    final class Receiver: NSObject, URLSessionDataDelegate {
        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            print("\(data.count) bytes")
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            print(error.map { "failed: \($0.localizedDescription)" } ?? "done")
        }
    }
}
