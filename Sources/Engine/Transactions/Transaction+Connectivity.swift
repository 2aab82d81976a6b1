// A transaction whose host cannot be reached from here: it waits for the network instead of failing, if its request
// says so (B6.15 to B6.20). Meanwhile no idle time runs; the resource time does.

extension Transaction: ConnectivityWaiter {
    /// No connection could be opened; the connector has come as far as it says.
    func dialFailed(_ error: EngineError, _ connector: Connector?) {
        switch verdict(onFailedAttempt: error) {
        case .fail:
            noteProgress(of: connector)
            failed(error)
        case .tryAgain: askForConnection()
        case .wait:
            noteProgress(of: connector)
            waitForNetwork()
        }
    }

    var destination: Destination { Destination(origin: key.origin, route: key.route) }

    /// There may be a way now.
    func networkChanged() {
        guard isOffline else { return }
        forgetConnector()
        askForConnection()
    }
}
