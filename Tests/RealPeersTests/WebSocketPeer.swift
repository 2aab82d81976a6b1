// Web sockets by Python's websockets, as a server and as a client. They say what they have seen, a line of JSON for
// each conversation.

import Foundation
import URLLoadingTestSupport

/// A server that echoes, and by other paths cuts messages, pings, closes and asks for a password.
final class WebSocketPeer: Sendable {
    /// What the other side has seen of one web socket.
    struct Account: Decodable {
        let path: String
        /// What it was closed with.
        let code: Int
        let reason: String
        let subprotocol: String?
        let extensions: [String]
        /// The messages that came.
        let messages: Int
    }

    let directory: PeerDirectory
    private let port: Int
    private let isSecure: Bool
    private let process: PeerProcess
    private let accounts = Guarded(0)

    /// A server, with TLS if wanted, and with a password for all paths if wanted: "user" and "secret".
    init(tls: Bool = false, password: Bool = false) async throws {
        guard let program = Peers.webSockets else {
            throw PeerProcess.StartFailure(description: "python3-websockets is not installed")
        }
        isSecure = tls
        directory = try PeerDirectory()
        let path = directory.path
        try directory.write(Self.server, to: "server.py")
        process = try PeerProcess(
            program, ["-u", "\(path)/server.py", tls ? path : "-", password ? "password" : "-"])
        let line = try await process.line(containing: "listening ")
        port = line.split(separator: " ").last.flatMap { Int($0) } ?? 0
    }

    func url(_ path: String) throws -> URL {
        let text = "\(isSecure ? "wss" : "ws")://127.0.0.1:\(port)\(path)"
        guard let url = URL(string: text) else { throw URLError(.badURL) }
        return url
    }

    /// What it has seen of the next web socket, once that is over.
    func account() async throws -> Account {
        let number = accounts.withLock { number in
            number += 1
            return number
        }
        return try Self.account(try await process.lines(number, containing: "account ")[number - 1])
    }

    /// What Python's client gets that sends each of so many texts to a URL and wants it back, with permessage-deflate.
    static func client(_ url: String, texts: Int) async throws -> Account {
        guard let program = Peers.webSockets else {
            throw PeerProcess.StartFailure(description: "python3-websockets is not installed")
        }
        let directory = try PeerDirectory()
        try directory.write(Self.client, to: "client.py")
        let process = try PeerProcess(program, ["-u", "\(directory.path)/client.py", url, "\(texts)"])
        return try account(try await process.line(containing: "account "))
    }

    private static func account(_ line: String) throws -> Account {
        try JSONDecoder().decode(Account.self, from: Data(line.dropFirst("account ".count).utf8))
    }

    private static let common = #"""
        import asyncio, json, ssl, sys, websockets

        def account(socket, messages):
            print("account " + json.dumps({
                "path": socket.path, "code": socket.close_code, "reason": socket.close_reason,
                "subprotocol": socket.subprotocol, "messages": messages,
                "extensions": [extension.name for extension in socket.extensions]}))

        """#

    private static let server =
        common + #"""
            async def serve(socket):
                messages = 0
                try:
                    if socket.path == "/pings":
                        for number in range(3):
                            await (await socket.ping(b"ping %d" % number))
                        await socket.send("three pongs")
                    if socket.path == "/drop":
                        await socket.send("before")
                        socket.transport.abort()
                    async for message in socket:
                        messages += 1
                        if socket.path == "/fragments":
                            await socket.send([message[at:at + 1000] for at in range(0, len(message), 1000)])
                        elif socket.path == "/close":
                            code, reason = message.split(" ", 1)
                            await socket.close(int(code), reason)
                        else:
                            await socket.send(message)
                except websockets.ConnectionClosed:
                    pass
                await socket.wait_closed()
                account(socket, messages)

            async def main():
                context = None
                if sys.argv[1] != "-":
                    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                    context.load_cert_chain(sys.argv[1] + "/certificate.pem", sys.argv[1] + "/key.pem")
                asks = None
                if sys.argv[2] == "password":
                    asks = websockets.basic_auth_protocol_factory(realm="peers", credentials=("user", "secret"))
                async with websockets.serve(
                    serve, "127.0.0.1", 0, ssl=context, subprotocols=["chat.v2", "chat.v1"], max_size=2**26,
                    create_protocol=asks
                ) as server:
                    print("listening", server.sockets[0].getsockname()[1])
                    await asyncio.Future()

            asyncio.run(main())
            """#

    private static let client =
        common + #"""
            async def main():
                async with websockets.connect(sys.argv[1], compression="deflate", subprotocols=["chat.v1"]) as socket:
                    messages = 0
                    for number in range(int(sys.argv[2])):
                        text = ("number %d, Grüße, " % number) * (number * 7 % 300 + 1)
                        await socket.send(text)
                        messages += await socket.recv() == text
                    await socket.ping()
                    await socket.close(4000, "enough")
                    account(socket, messages)

            asyncio.run(main())
            """#
}
