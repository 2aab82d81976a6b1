// How a connection of the server becomes a web socket. RFC 6455 §4.2.2.

import URLLoadingSystem
import URLLoadingWire

extension ServerConnection {
    /// Opens the web socket if the request asks for one that can be; false where it is to be answered otherwise.
    func open(_ route: WebSocketRoute, for request: ServerRequest) -> Bool {
        guard
            let acceptance = WebSocketAcceptance(
                request.head, protocols: route.protocols, compresses: route.compresses)
        else { return false }
        var head = acceptance.answer
        route.changesAnswer?(&head)
        var answer: [UInt8] = []
        // What a test has made of the head may be anything but what cannot be written at all.
        guard (try? ResponseEncoder.encode(head, framing: .none, into: &answer)) != nil else { return false }
        core.figures.update { statistics in
            statistics.responses += 1
            statistics.webSockets += 1
            statistics.webSocketsOpen += 1
        }
        route.record?.write { contents in
            contents.agreements.append(acceptance.agreement)
            contents.requests.append(request.head)
        }
        let conversation = WebSocketConversation(route, acceptance.agreement, on: self)
        self.conversation = conversation
        conversation.begin(answer: answer)
        return true
    }
}
