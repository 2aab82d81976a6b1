// What needs no source: `data:` URLs, whose content they hold themselves, and `about:blank`, which is empty.

import Foundation
import URLLoadingPolicy

/// Delivers the content of a `data:` URL (behaviour 14.3).
final class DataCarrier: SchemeCarrier {
    func start(_ request: URLRequest, _ load: SchemeLoad) {
        guard let url = request.url else { return load.failed(LoadFailure.unsupportedURL(nil, "There is no URL.")) }
        do throws(DataURL.Fault) {
            let data = try DataURL(url.absoluteString)
            load.received(
                URLResponse(
                    url: url, mimeType: data.mimeType, expectedContentLength: data.content.count,
                    textEncodingName: data.charset))
            if !data.content.isEmpty { load.received(body: Data(data.content)) }
            load.finished()
        } catch {
            load.failed(LoadFailure.badURL(url, error.description))
        }
    }

    func stop() {}
}

/// Delivers the empty page (B14.6).
final class AboutCarrier: SchemeCarrier {
    func start(_ request: URLRequest, _ load: SchemeLoad) {
        guard let url = request.url, Self.isBlank(url) else {
            return load.failed(LoadFailure.unsupportedURL(request.url, "Of about: URLs only about:blank is known."))
        }
        load.received(
            URLResponse(url: url, mimeType: "text/html", expectedContentLength: 0, textEncodingName: nil))
        load.finished()
    }

    func stop() {}

    private static func isBlank(_ url: URL) -> Bool {
        let name = url.absoluteString.dropFirst("about:".count).prefix { $0 != "?" && $0 != "#" }
        return name.lowercased() == "blank"
    }
}
