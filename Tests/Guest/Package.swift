// swift-tools-version: 6.3
// A package whose targets and products have the names that other packages are likely to have, some of which were once
// ours, and that depends on a version of URLLoading from a folder of another name. SwiftPM refuses a graph in which two
// packages have a target of one name: that this one builds shows that ours has none.
// `Scripts/guest` builds it and runs it.
import Foundation
import PackageDescription

let environment = ProcessInfo.processInfo.environment
let libraries = [
    "TLS", "Trust", "Sockets", "HTTPWire", "LoadingPolicy", "LoadingEngine", "LoopbackServer", "TestSupport",
]
let headers = ["COpenSSL", "CZlib", "CPlatform", "CGSSAPI"]
let programs = ["fetch", "demo", "conformance"]

let package = Package(
    name: "Guest",
    products: libraries.map { .library(name: $0, targets: [$0]) }
        + programs.map { .executable(name: $0, targets: [$0]) },
    dependencies: [
        .package(
            url: environment["URLLOADING_ADDRESS"] ?? "",
            from: Version(environment["URLLOADING_VERSION"] ?? "") ?? "0.0.0")
    ],
    targets: headers.map { .systemLibrary(name: $0) } + libraries.map { .target(name: $0) }
        + programs.map { .executableTarget(name: $0) } + [
            .executableTarget(
                name: "guest",
                dependencies: (headers + libraries).map { .byName(name: $0) } + [
                    .product(name: "URLLoading", package: "another-name"),
                    .product(name: "URLLoadingLegacy", package: "another-name"),
                ])
        ],
    swiftLanguageModes: [.v6]
)
