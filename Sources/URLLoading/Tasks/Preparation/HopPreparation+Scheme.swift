// A hop whose URL is of another scheme than http: what is built in for that scheme carries it.
//
// Must not know: how a carrier gets what it reports.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingWire

extension HopPreparation {
    /// Whether the URL is of a scheme, and of another one than http.
    var isOfAnotherScheme: Bool { request.url?.scheme.map { Scheme($0) == nil } ?? false }

    /// Gives a hop of another scheme to what is built in for it (B14.1, B14.2).
    mutating func loadElsewhere() -> Step? {
        guard let url = request.url, let scheme = url.scheme, let builtIn = BuiltInScheme.named(scheme) else {
            return end(
                LoadFailure.unsupportedURL(
                    request.url, "Nothing is known that loads URLs of the scheme \"\(request.url?.scheme ?? "")\"."))
        }
        let policy =
            request.values.cachePolicy == .useProtocolCachePolicy
            ? session.settings.cachePolicy : request.values.cachePolicy
        if task.isUpload, !builtIn.takesUploads {
            // B14.12.
            return end(
                LoadFailure.unsupportedURL(url, "Nothing can be uploaded to a URL of the scheme \"\(scheme)\"."))
        }
        // B7.35: nothing of these is ever stored (B7.25).
        if builtIn.hasSource, policy == .returnCacheDataDontLoad { return end(LoadFailure.notCached(url)) }
        switch builtIn.source {
        case .carrier(let make):
            task.hops.carry(request, by: make())
            return nil
        case .ftp: return loadByFTP(url)
        }
    }

    /// By a transfer of our own, or by a request to a proxy that speaks HTTP (B13.32).
    private mutating func loadByFTP(_ url: URL) -> Step? {
        let place: FTPPlace
        let way: FTPPlace.Way
        do throws(URLError) {
            place = try FTPPlace(url)
            way = try place.way(request, session.settings)
        } catch {
            return end(error)
        }
        // B14.25: what other tasks have for a body is not sent, as with files.
        let stored: HopContent? = task.isUpload ? hop.content : nil
        switch way {
        case .transfer(let route):
            let carrier = FTPCarrier(
                place, route: route, storing: stored, resuming: task.savesFile ? task.download.partOnServer : nil
            )
            task.hops.carry(request, by: carrier, fromInside: true)
            return nil
        case .proxies(let routes):
            task.download.beginAtBeginning()
            hop.content = stored ?? HopContent.none
            hop.message = session.builder.message(
                for: request, after: task.firstRequest, storing: stored, at: place, by: routes)
            return .way
        }
    }
}
