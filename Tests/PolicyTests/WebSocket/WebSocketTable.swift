// What tables of a web socket's events and actions are written with.

import Testing
import URLLoadingPolicy
import URLLoadingWire

/// A suite of such tables.
protocol WebSocketTable {}

extension WebSocketTable {
    typealias Action = WebSocketMachine.Action

    var now: Duration { .seconds(100) }

    func call(_ number: Int) -> WebSocketCall { WebSocketCall(number) }
    func text(_ text: String) -> WebSocketMessage { WebSocketMessage(text: text) }
    func ping(_ number: UInt8) -> [UInt8] { [0, 0, 0, 0, 0, 0, 0, number] }

    func opened() -> WebSocketMachine {
        var machine = WebSocketMachine()
        machine.opened()
        return machine
    }

    func expect(
        _ machine: inout WebSocketMachine, _ actions: [Action], _ location: SourceLocation = #_sourceLocation
    ) {
        var taken: [Action] = []
        while let action = machine.nextAction() { taken.append(action) }
        #expect(taken == actions, sourceLocation: location)
    }
}
