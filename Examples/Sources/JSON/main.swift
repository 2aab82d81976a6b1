// Values from JSON and to JSON: JSON http://127.0.0.1:40123/

import Foundation
import URLLoading

struct Person: Codable {
    var name: String
    var born: Int
}

/// The answer's body, if the answer is a success.
func body(_ request: URLRequest) async throws -> Data {
    let (data, response) = try await URLSession.shared.data(for: request)
    guard let http = response as? HTTPURLResponse, (200...299).contains(http.statusCode) else {
        throw URLError(.badServerResponse)
    }
    return data
}

guard CommandLine.arguments.count == 2, let site = URL(string: CommandLine.arguments[1]) else {
    print("usage: JSON URL")
    exit(64)
}
let people = site.appending(path: "people")

let known = try JSONDecoder().decode([Person].self, from: try await body(URLRequest(url: people)))
print("known:", known.map { "\($0.name) (\($0.born))" }.joined(separator: ", "))

var request = URLRequest(url: people)
request.httpMethod = "POST"
request.setValue("application/json", forHTTPHeaderField: "Content-Type")
request.httpBody = try JSONEncoder().encode(Person(name: "Grace", born: 1906))
let stored = try JSONDecoder().decode(Person.self, from: try await body(request))
print("stored:", stored.name)
