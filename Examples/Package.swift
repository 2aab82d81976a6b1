// swift-tools-version: 6.3
// Eight small programs, each a file, that use nothing but the public API. `make examples` builds and runs them all
// against the server of the demo.
import PackageDescription

let programs = ["JSON", "Upload", "Download", "OwnAuthority", "Pin", "Events", "Crawl", "WebSocket"]

let package = Package(
    name: "Examples",
    dependencies: [.package(name: "URLLoading", path: "..")],
    targets: programs.map {
        .executableTarget(name: $0, dependencies: [.product(name: "URLLoading", package: "URLLoading")])
    },
    swiftLanguageModes: [.v6]
)
