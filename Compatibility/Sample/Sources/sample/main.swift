// Uses the library, and the ways in which Foundation loads URLs by itself.

import Foundation
import FoundationNetworking
import Weather

func check(_ holds: Bool, _ what: String) {
    print(holds ? "ok      " : "FAILED  ", what)
    if !holds { exit(1) }
}

let json = #"{"city":"Bern","degrees":21}"#
guard let server = TinyServer(answering: json), let base = URL(string: "http://127.0.0.1:\(server.port)/") else {
    print("no server")
    exit(1)
}
let expected = try JSONDecoder().decode(Report.self, from: Data(json.utf8))

let service = WeatherService(base: base)
let isAnswered = DispatchSemaphore(value: 0)
service.report(for: "bern") { result in
    check((try? result.get()) == expected, "a library with a completion handler")
    isAnswered.signal()
}
isAnswered.wait()
let report = try await service.report(for: "bern")
check(report == expected, "a library with async")
service.close()

check(try Data(contentsOf: base) == Data(json.utf8), "Data(contentsOf:)")
check(try String(contentsOf: base, encoding: .utf8) == json, "String(contentsOf:encoding:)")
check(try NSData(contentsOf: base, options: []) as Data == Data(json.utf8), "NSData(contentsOf:)")
check(try NSString(contentsOf: base, usedEncoding: nil) as String == json, "NSString(contentsOf:usedEncoding:)")
check(String(reflecting: URLSession.self) == "URLLoading.URLSession", "URLSession is URLLoading's")
let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
check(!maps.contains("libFoundationNetworking") && !maps.contains("libcurl"), "no libcurl in the process")
