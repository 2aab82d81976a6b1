// A transaction whose host cannot be reached from here: it waits for the network instead of failing, if its request
// says so (B6.15 to B6.20). Meanwhile no idle time runs; the resource time does.

extension Transaction: ConnectivityWaiter {
    /// No connection could be opened.
    func dialFailed(_ error: EngineError) {
        switch verdict(onFailedAttempt: error) {
        case .fail: failed(error)
        case .tryAgain: askForConnection()
        case .wait: waitForNetwork()
        }
    }

    /// The machine's network is another than before.
    func networkChanged() {
        guard isOffline else { return }
        askForConnection()
    }
}
