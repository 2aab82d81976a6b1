// The programs that tests start, and that are of use by hand: what they show can only be seen in a process of its own.
// They are one executable, whose first argument says which of them it is.

import URLLoadingSystem

/// Runs the program that the first argument names, with the arguments behind it.
@main
enum TestPrograms {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst(2))
        switch CommandLine.arguments.dropFirst().first {
        // As the real helper is started, which a session knows its own by.
        case "--serve": HangingHelper.run(words)
        case "background": await BackgroundTool.run(words)
        case "cache": await CacheTool.run(words)
        case "cookie": await CookieTool.run(words)
        case "exit": await ExitTool.run(words)
        case "kerberos": await KerberosClient.run(words)
        case "legacy": LegacyClient.start(words)
        case "resume": await ResumeTool.run(words)
        case "secret": await SecretClient.run(words)
        case "shards": await ShardMeasure.run(words)
        case "simulate": Simulation.run(words)
        case "soak": await Soak.run(words)
        case "upload": try await UploadTool.run(words)
        case "websocket": try await WebSocketTool.run(words)
        case "worst-cases": try WorstCases.run(words)
        default:
            print("usage: URLLoadingTestPrograms PROGRAM …")
            print(
                "PROGRAM is background, cache, cookie, exit, kerberos, legacy, resume, secret, shards, simulate, soak,"
            )
            print("upload, websocket or worst-cases")
            exit(64)
        }
    }
}
