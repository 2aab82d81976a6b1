// Carries a hop by an FTP transfer of the engine's (behaviour 14.4): response, data and errors as of files, challenges
// as of servers that want a password.
//
// Must not know: FTP's commands and replies, where the bytes go.

import Foundation
import Synchronization
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

/// Delivers a file or a list from an FTP server, or stores something there.
final class FTPCarrier: SchemeCarrier {
    private struct State: Sendable {
        var handle: FTPHandle?
        /// The credential that the server has refused.
        var refused: URLCredential?
        /// What a delegate has given, to be stored once it was accepted (B2.67).
        var given: URLCredential?
    }

    let place: FTPPlace
    private let routes: [Route]
    private let content: HopContent?
    /// What there is of the file, and which it was.
    private let part: (offset: Int64, file: FTPFileState)?
    private let state = Mutex(State())

    /// A carrier to a place by the first of these ways that leads there; `storing` is what is to be stored there, nil
    /// for a download. With a part it asks for the rest, if the file is still the same.
    init(
        _ place: FTPPlace, routes: [Route], storing content: HopContent?,
        resuming part: (offset: Int64, file: FTPFileState)? = nil
    ) {
        self.place = place
        self.routes = routes
        self.content = content
        self.part = part
    }

    private var purpose: FTPJob.Purpose {
        if content != nil { return .store }
        return part.map { .resume(from: $0.offset, of: $0.file) } ?? .retrieve
    }

    func start(_ request: URLRequest, _ load: SchemeLoad) {
        guard let session = load.session else { return load.failed(LoadFailure.cancelled(place.url)) }
        var length: Int64?
        if case .known(let count) = content?.length { length = count }
        var transfer = FTPRequest(
            server: place.server, routes: routes,
            job: FTPJob(
                path: place.path, purpose: purpose, credential: place.credential, isProtected: place.isProtected,
                asksDate: load.plan.savesFile),
            body: content?.body ?? .none, bodyLength: length, idleTimeout: session.settings.idleTimeout(request)
        ) { [self] handle, reactor in FTPDelivery(carrier: self, load: load, handle: handle, reactor: reactor) }
        transfer.waitsForConnectivity = session.settings.waitsForConnectivity
        let handle = (load.core.engine ?? session.engine).submit(ftp: transfer)
        state.withLock { $0.handle = handle }
    }

    func resumeReading() { state.withLock(\.handle)?.resumeReading() }

    func suspend() { state.withLock(\.handle)?.suspend() }

    func resume() { state.withLock(\.handle)?.resume() }

    func stop() {
        // The handle has the closure that makes the receiver, and with it this object.
        let handle = state.withLock { state in
            defer { state.handle = nil }
            return state.handle
        }
        handle?.cancel()
    }

    // MARK: Credentials

    /// Looks where a credential may be, and asks the delegates; where the program's own code may run.
    func ask(refusals: Int, for load: SchemeLoad, _ handle: FTPHandle) {
        let ask: @Sendable () -> Void = { [self] in
            findUsual(for: load) { [self] usual in
                let shown = URLAuthenticationChallenge(
                    protectionSpace: place.space, proposedCredential: proposal(usual), previousFailureCount: refusals,
                    failureResponse: nil, error: nil, sender: PlaceholderSender.shared)
                load.ask(shown) { [self] disposition, credential in
                    switch disposition {
                    case .useCredential: answer(credential, isDelegates: true, otherwise: refusals, handle)
                    case .performDefaultHandling: answer(usual, isDelegates: false, otherwise: refusals, handle)
                    case .rejectProtectionSpace: answer(nil, isDelegates: false, otherwise: refusals, handle)
                    // The task ends by it.
                    case .cancelAuthenticationChallenge: handle.cancel()
                    }
                }
            }
        }
        if !BlockingPool.authentication.run(ask) { handle.answer(nil) }
    }

    /// Finds what default handling uses: the storage's, of the URL's user if that names one, unless it was refused.
    private func findUsual(for load: SchemeLoad, _ goOn: @escaping @Sendable (URLCredential?) -> Void) {
        guard let storage = load.session?.settings.credentialStorage else { return goOn(nil) }
        let user = place.user.flatMap { $0.isEmpty ? nil : $0 }
        storage.findPassword(in: [place.space], of: user, for: load.core.face) { [self] found in
            // Order: compared when the lock is free, since both may be of the program's own classes.
            goOn(found == state.withLock(\.refused) ? nil : found)
        }
    }

    /// What the delegate is shown (B2.14, B2.15, B2.75).
    private func proposal(_ usual: URLCredential?) -> URLCredential? {
        if let refused = state.withLock(\.refused) { return refused }
        if let usual { return usual }
        return place.user.flatMap { $0.isEmpty ? nil : URLCredential(proposedUser: $0) }
    }

    private func answer(
        _ credential: URLCredential?, isDelegates: Bool, otherwise refusals: Int, _ handle: FTPHandle
    ) {
        if let credential, let answer = PasswordCredential(credential) {
            // Order: those of before go when the lock is free.
            state.letGo { state -> State in
                defer { (state.refused, state.given) = (credential, isDelegates ? credential : nil) }
                return state
            }
            return handle.answer(answer)
        }
        // A user without a password is still that user.
        let named = place.user.flatMap { user in
            refusals == 0 && !user.isEmpty ? PasswordCredential(user: user, password: "") : nil
        }
        handle.answer(named)
    }

    /// The server lets us in.
    func accepted(for load: SchemeLoad) {
        let given = state.withLock { state -> URLCredential? in
            defer { state.given = nil }
            return state.given
        }
        guard let given, let storage = load.session?.settings.credentialStorage else { return }
        BlockingPool.authentication.run { [place] in
            guard given.persistence != .none else { return }
            storage.setDefaultCredential(given, for: place.space, task: load.core.face)
        }
    }
}

/// Hears of the transfer on its loop.
private final class FTPDelivery: FTPReceiver {
    private let carrier: FTPCarrier
    private let load: SchemeLoad
    private let handle: FTPHandle
    private unowned let reactor: Reactor

    init(carrier: FTPCarrier, load: SchemeLoad, handle: FTPHandle, reactor: Reactor) {
        self.carrier = carrier
        self.load = load
        self.handle = handle
        self.reactor = reactor
    }

    var answersQuestions: Bool { load.core.trust.answersChallenges }

    /// The settings and the storage may know where no delegate does.
    var answersProxies: Bool { true }

    func asked(_ question: ConnectionQuestion) {
        if case .proxy(let question) = question {
            return load.core.authentication.refused(by: question, on: reactor)
        }
        guard let space = URLProtectionSpace(question) else { return }
        let shown = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: URLCredential(proposedBy: question), previousFailureCount: 0,
            failureResponse: nil, error: nil, sender: PlaceholderSender.shared)
        load.ask(shown) { [core = load.core] disposition, credential in
            core.trust.answerHandshake(disposition, credential, to: question)
        }
    }

    func askedForCredential(refusals: Int) { carrier.ask(refusals: refusals, for: load, handle) }

    func received(head: FTPHead) -> ReceiverDemand {
        carrier.accepted(for: load)
        let offset = load.plan.savesFile ? load.core.download.meetFTP(head) : nil
        let length: Int
        switch head.content {
        case .file: length = head.size.map { Int(clamping: $0 - (offset ?? 0)) } ?? -1
        case .listing: length = -1
        case .nothing: length = 0
        }
        let demand = load.received(
            URLResponse(
                url: carrier.place.url, mimeType: carrier.place.mimeType, expectedContentLength: length,
                textEncodingName: nil))
        guard let offset, let size = head.size else { return demand }
        return load.resumed(at: offset, total: size)
    }

    func received(body piece: BodyPiece) -> ReceiverDemand { load.received(body: Data(piece.bytes)) }

    func sent(bodyBytes: Int64) {
        load.core.counting.bodySent(bodyBytes, tellsDelegate: load.plan.tellsDelegate, on: reactor)
    }

    func moved() { load.noteProgress() }

    func waitsForConnectivity() { load.waitsForConnectivity() }

    func finished(_ error: EngineError?) {
        guard let error else { return load.finished() }
        load.failed(
            ErrorMapping.urlError(
                error, url: carrier.place.url, evaluator: load.core.trust.evaluator,
                ofDownload: load.plan.savesFile),
            forWantOfWay: error.isOfTheWay ? error : nil)
    }
}
