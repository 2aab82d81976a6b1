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
        if task.isUpload, !builtIn.takesUploads {
            // B14.12.
            return end(
                LoadFailure.unsupportedURL(url, "Nothing can be uploaded to a URL of the scheme \"\(scheme)\"."))
        }
        // B7.35: nothing of these is ever stored (B7.25).
        if builtIn.hasSource, session.settings.cachePolicy(of: request) == .returnCacheDataDontLoad {
            return end(LoadFailure.notCached(url))
        }
        switch builtIn.source {
        case .carrier(let make):
            task.hops.carry(request, by: make())
            return nil
        case .ftp: return loadByFTP(url)
        }
    }

    private mutating func loadByFTP(_ url: URL) -> Step? {
        let session = session
        do throws(URLError) {
            let place = try FTPPlace(url)
            return try go(to: place, by: place.routes(request, session.settings)[...])
        } catch {
            return end(error)
        }
    }

    /// Goes on by the ways to an FTP server that are left.
    mutating func goRoundByFTP() -> Step? {
        guard let url = request.url else { return end(LoadFailure.cancelled(nil)) }
        do throws(URLError) {
            return try go(to: FTPPlace(url), by: hop.otherRoutes)
        } catch {
            return end(error)
        }
    }

    /// By a transfer of our own, or by a request to a proxy that speaks HTTP (B13.32), as the
    /// first of the ways wants it.
    private mutating func go(to place: FTPPlace, by routes: ArraySlice<Route>) throws(URLError) -> Step? {
        // B14.25: what other tasks have for a body is not sent, as with files.
        let stored: HopContent? = task.isUpload ? hop.content : nil
        switch try place.way(by: routes) {
        case .transfer(let own, let others):
            hop.otherRoutes = others
            let carrier = FTPCarrier(
                place, routes: own, storing: stored, resuming: task.savesFile ? task.download.partOnServer : nil)
            task.hops.carry(
                request, by: carrier, fromInside: true, reroutable: others.isEmpty ? nil : ReroutableHop(hop))
            return nil
        case .proxy(let route, let others):
            task.download.beginAtBeginning()
            hop.content = stored ?? HopContent.none
            hop.message = session.builder.message(
                for: request, after: task.firstRequest, storing: stored, at: place, by: route)
            hop.route = route
            hop.otherRoutes = others
            return .submission
        }
    }
}
