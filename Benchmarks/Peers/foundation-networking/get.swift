// One GET by FoundationNetworking, the body to standard output: what Scripts/measure-fetch puts beside `fetch URL`.

import Foundation
import FoundationNetworking

guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
    print("usage: get URL")
    exit(64)
}
let (data, _) = try await URLSession(configuration: .ephemeral).data(from: url)
try FileHandle.standardOutput.write(contentsOf: data)
