// A process of its own for what can only be measured in one: memory, descriptors and threads of nothing but the load.
// The suite starts it and reads the one line it prints; by hand it takes the same arguments.

import Foundation
import TestSupport

/// The loads that the suite runs in a process of their own.
@main
enum Soak {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        let number = arguments.dropFirst().first.flatMap { Int64($0) }
        do {
            switch arguments.first {
            case "stream": print(try await StreamingLoad.run(bytes: number ?? 2 << 30))
            case "upload": print(try await UploadingLoad.run(bytes: number ?? 2 << 30))
            case "cancel": print(try await CancellingLoad.run(requests: Int(number ?? 10_000)))
            default:
                print("usage: soak stream [bytes] | upload [bytes] | cancel [requests]")
                exit(64)
            }
        } catch {
            print("failed: \(error)")
            exit(1)
        }
    }
}
