// What `request` asks for: the request of the package, and what the driver itself does around it. Driver protocol,
// section 4.

import Foundation
import URLLoading

/// A request to carry out.
struct RequestPlan {
    let session: String
    /// The text of the URL; whether it is one is found out later, since that is no fault of the command.
    let url: String
    let options: RequestOptions
    private let method: String?
    private let fields: [(name: String, value: String)]
    let body: Data?

    /// Reads the members of the command.
    init(_ members: consuming Members) throws(Refusal) {
        var members = members
        session = try members.requiredString("session")
        url = try members.requiredString("url")
        method = try members.string("method")
        fields = try members.fields("headers")
        body = try members.base64("body_base64")
        options = try RequestOptions(members.object("options"))
        try members.finish()
        if body != nil, options.bodyPieces != nil {
            throw .badCommand("request: body_base64 and body_stream exclude each other")
        }
    }

    /// The request for the package; `stream` is its body if it has one piece by piece. Fields that come more than once
    /// are joined, as the package's API does it.
    func request(to url: URL, stream: InputStream?) -> URLRequest {
        var request = URLRequest(url: url)
        if let method { request.httpMethod = method }
        for field in fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
        if let body { request.httpBody = body }
        if let stream { request.httpBodyStream = stream }
        request.cachePolicy = options.cachePolicy
        if let seconds = options.timeout { request.timeoutInterval = seconds }
        if options.isWithoutCookies { request.httpShouldHandleCookies = false }
        return request
    }
}
