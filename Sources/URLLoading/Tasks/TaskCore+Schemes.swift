// Who carries a hop that is no HTTP transaction: a class of the program's, which is asked first, or what is built in for
// the URL's scheme; and what is peculiar to such hops.
//
// Must not know: how a carrier gets what it reports, bytes.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

extension TaskCore {
    /// Takes up a hop that the builder of HTTP requests has refused, if its URL is of another scheme (B14.1, B14.2).
    func loadElsewhere(_ request: URLRequest, _ content: HopContent) -> Bool {
        guard let session, let url = request.url, let scheme = url.scheme, Scheme(scheme) == nil else { return false }
        guard let builtIn = BuiltInScheme.named(scheme) else {
            endUnloaded(
                LoadFailure.unsupportedURL(url, "Nothing is known that loads URLs of the scheme \"\(scheme)\"."))
            return true
        }
        let policy =
            request.values.cachePolicy == .useProtocolCachePolicy
            ? session.settings.cachePolicy : request.values.cachePolicy
        if case .upload = kind, !builtIn.takesUploads {
            // B14.12.
            endUnloaded(
                LoadFailure.unsupportedURL(url, "Nothing can be uploaded to a URL of the scheme \"\(scheme)\"."))
        } else if builtIn.hasSource, policy == .returnCacheDataDontLoad {
            // B7.35: nothing of these is ever stored (B7.25).
            endUnloaded(LoadFailure.notCached(url))
        } else {
            switch builtIn.source {
            case .carrier(let make): carry(request, by: make())
            case .ftp: loadByFTP(request, url, content)
            }
        }
        return true
    }

    /// Takes up a hop to an FTP server: by a transfer, or by a request to a proxy that speaks HTTP (B13.32).
    private func loadByFTP(_ request: URLRequest, _ url: URL, _ content: HopContent) {
        guard let session else { return }
        let place: FTPPlace
        let way: FTPPlace.Way
        do throws(URLError) {
            place = try FTPPlace(url)
            way = try place.way(request, session.settings)
        } catch {
            return endUnloaded(error)
        }
        // B14.25: what other tasks have for a body is not sent, as with files.
        let stored: HopContent? = if case .upload = kind { content } else { nil }
        switch way {
        case .transfer(let route):
            let carrier = FTPCarrier(
                place, route: route, storing: stored, resuming: outlet.savesFile ? partOnServer : nil)
            carry(request, by: carrier, fromInside: true)
        case .proxies(let routes):
            beginAtBeginning()
            let message = session.builder.message(
                for: request, after: firstRequest, storing: stored, at: place, by: routes)
            findWay(of: Hop(request: request, message: message, content: stored ?? HopContent.none))
        }
    }

    /// Lets a carrier load the hop. Most know only wholes.
    func carry(
        _ request: URLRequest, by carrier: any SchemeCarrier, cache: CachePart? = nil, fromInside: Bool = false
    ) {
        guard let session else { return }
        if outlet.savesFile, !fromInside { beginAtBeginning() }
        let sessionView = tellingView
        let load = state.withLock { state -> SchemeLoad? in
            guard state.machine.begin() else { return nil }
            state.cachePart = cache
            state.detour = nil
            state.sentFields = nil
            let load = SchemeLoad(
                request, of: self, plan: plan(of: state, sessionView), by: carrier,
                limits: SchemeLoad.Limits(
                    idle: session.settings.idleTimeout(request), deadline: state.resourceDeadline))
            state.load = .other(load)
            return load
        }
        guard let load else { return endUnloaded(LoadFailure.cancelled(request.url)) }
        tellLoadOfSuspension()
        load.begin()
    }

    // MARK: Questions

    /// Asks the delegates about a carrier's challenge, on their queue (B2.2 to B2.4).
    func ask(about question: SchemeQuestion) {
        guard let token = mailbox.withLock({ $0.beginWaiting() }) else { return }
        guard question.isAsked(under: token) else {
            _ = mailbox.withLock { $0.endWaiting(for: token) }
            return
        }
        let subject = TaskChallenge.Subject.carrier(question)
        let shown = URLAuthenticationChallenge(
            authenticationChallenge: question.challenge,
            sender: ChallengeSender(core: self, token: token, subject: subject))
        ask(
            .challenge(
                TaskChallenge(shown: shown, subject: subject), ofTask: !question.challenge.protectionSpace.isSessionWide
            ),
            token: token)
    }

    /// The question under this token has no answer any more.
    func stopWaiting(for token: WaitNumber) {
        if mailbox.withLock({ $0.endWaiting(for: token) }) { session?.relay.schedule(self) }
    }

    // MARK: The cache

    /// Stores what a carrier has brought, or asks about it first (B14.52).
    func carryOutElsewhere(_ cached: CachedURLResponse, of part: CachePart, asksDelegates: Bool) {
        if usesRelay {
            post(.caching(asksDelegates ? .propose(cached) : .store(cached)))
        } else if let request = currentRequest {
            part.session.cache.storeCachedResponse(cached, for: request)
        }
    }
}
