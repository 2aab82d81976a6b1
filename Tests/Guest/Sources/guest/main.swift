// Imports everything of the guest's own, and makes a request with URLLoading.

import CGSSAPI
import COpenSSL
import CPlatform
import CZlib
import Foundation
import HTTPWire
import LoadingEngine
import LoadingPolicy
import LoopbackServer
import Sockets
import TLS
import TestSupport
import Trust
import URLLoading
import URLLoadingLegacy

let own = [
    nameTLS, nameTrust, nameSockets, nameHTTPWire, nameLoadingPolicy, nameLoadingEngine, nameLoopbackServer,
    nameTestSupport,
]
let ownHeaders = guest_copenssl() + guest_czlib() + guest_cplatform() + guest_cgssapi()
guard own.count == 8, ownHeaders == 4 else { exit(1) }

guard let server = TinyServer(answering: "hello"), let url = URL(string: "http://127.0.0.1:\(server.port)/") else {
    print("no server")
    exit(1)
}
let configuration = URLSessionConfiguration.ephemeral
configuration.connectionProxyDictionary = [:]
let (data, response) = try await URLSession(configuration: configuration).data(from: url)
guard (response as? HTTPURLResponse)?.statusCode == 200, data == Data("hello".utf8) else {
    print("another answer")
    exit(1)
}
print(
    "The guest has \(own.count) modules and \(ownHeaders) headers of its own, and got its answer by URLLoading \(URLSession.libraryVersion)."
)
