// What background sessions need that Apple's platforms do by themselves. Ours.

import Foundation

extension URLSessionConfiguration {
    /// Ours: the program `urlloading-transfers` of this package, which carries the transfers of background sessions on.
    /// Nil, the default, means the one beside the running program, else the first on the `PATH`.
    public var backgroundHelper: URL? {
        get { value(\.background.helper) }
        set { assign(\.background.helper, newValue) }
    }

    /// Ours: whether transfers of background sessions are carried out by a process of their own; true unless set.
    ///
    /// Where it is false, or there is no such program, this process carries them out. They then stop with it, and go on
    /// when a session with the same identifier is made again.
    public var usesBackgroundHelper: Bool {
        get { value(\.background.usesHelper) }
        set { assign(\.background.usesHelper, newValue) }
    }

    /// Ours: a command, a program by its path or on the `PATH` first, that is run when a background session has
    /// something to tell and its program is not there (B10.35); empty, the default, for none. It gets the variable
    /// `URLLOADING_BACKGROUND_IDENTIFIER`. Without effect where `sessionSendsLaunchEvents` is false.
    public var backgroundEventHook: [String] {
        get { value(\.background.eventHook) }
        set { assign(\.background.eventHook, newValue) }
    }

    /// Ours: where the folders of background sessions are, in place of `$XDG_STATE_HOME` or `~/.local/state`.
    public var backgroundStateDirectory: URL? {
        get { value(\.background.stateDirectory) }
        set { assign(\.background.stateDirectory, newValue) }
    }

    /// For tests, which cannot wait so long.
    package var backgroundHelperPatience: Duration {
        get { value(\.background.helperPatience) }
        set { assign(\.background.helperPatience, newValue) }
    }
}

extension URLSession {
    /// Ours: the identifiers of this program's background sessions that have something to tell or to ask, in the
    /// counterpart of `application(_:handleEventsForBackgroundURLSession:completionHandler:)`: make a session with each
    /// of them, and wait for `urlSessionDidFinishEvents(forBackgroundURLSession:)` (B10.14, B10.35).
    ///
    /// `stateDirectory` is what the sessions' configurations have as `backgroundStateDirectory`. Reads files.
    public static func backgroundIdentifiersWithEvents(in stateDirectory: URL? = nil) -> [String] {
        let root = stateDirectory.map { BackgroundDirectory.root(in: $0.path) } ?? (try? BackgroundDirectory.root())
        return root.map { BackgroundDirectory.identifiersWithNews(in: $0) } ?? []
    }
}
