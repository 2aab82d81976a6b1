// swift-tools-version: 6.3
// The house is described in docs/architecture.md; dependencies below point strictly downwards.
//
// Every target bears the package's name: SwiftPM refuses a graph in which two packages have a target of one name.
import Foundation
import PackageDescription

/// Whether SwiftPM has fetched this package for another one. That has no product `fetch`: of two products of one name SwiftPM builds
/// one in the place of the other, and the other package's own command may be called so.
let isFetched = {
    let folder = URL(fileURLWithPath: Context.packageDirectory).deletingLastPathComponent()
    let state = folder.deletingLastPathComponent().appendingPathComponent("workspace-state.json").path
    return folder.lastPathComponent == "checkouts" && FileManager.default.fileExists(atPath: state)
}()
let fetch: [Product] = isFetched ? [] : [.executable(name: "fetch", targets: ["URLLoadingFetch"])]

let package = Package(
    name: "URLLoading",
    products: fetch + [
        .library(name: "URLLoading", targets: ["URLLoading"]),
        .library(name: "URLLoadingLegacy", targets: ["URLLoadingLegacy"]),
        .executable(name: "urlloading-transfers", targets: ["URLLoadingTransfers"]),
        .executable(name: "urlloading-conformance-driver", targets: ["URLLoadingConformanceDriver"]),
    ],
    targets: [
        // What Swift cannot import by itself: headers only.
        .systemLibrary(name: "CURLLoadingCodings", path: "Sources/C/Codings"),
        .systemLibrary(name: "CURLLoadingGSSAPI", path: "Sources/C/GSSAPI"),
        .systemLibrary(name: "CURLLoadingPlatform", path: "Sources/C/Platform"),
        // No pkgConfig: the module maps name the libraries, and a machine without pkg-config would only be warned.
        .systemLibrary(name: "CURLLoadingOpenSSL", path: "Sources/C/OpenSSL"),
        .systemLibrary(name: "CURLLoadingZlib", path: "Sources/C/Zlib"),

        // The layers, from the ground up.
        .target(
            name: "URLLoadingWire", dependencies: ["CURLLoadingCodings", "CURLLoadingZlib"], path: "Sources/Wire"),
        .target(name: "URLLoadingTrust", dependencies: ["CURLLoadingOpenSSL"], path: "Sources/Trust"),
        .target(
            name: "URLLoadingTLS", dependencies: ["URLLoadingTrust", "CURLLoadingOpenSSL", "CURLLoadingPlatform"],
            path: "Sources/TLS"),
        .target(name: "URLLoadingSystem", dependencies: ["CURLLoadingPlatform"], path: "Sources/System"),
        .target(name: "URLLoadingPolicy", dependencies: ["URLLoadingWire"], path: "Sources/Policy"),
        .target(
            name: "URLLoadingEngine",
            dependencies: [
                "URLLoadingPolicy", "URLLoadingWire", "URLLoadingTLS", "URLLoadingTrust", "URLLoadingSystem",
                "CURLLoadingGSSAPI",
            ], path: "Sources/Engine"),
        .target(
            name: "URLLoading",
            dependencies: [
                "URLLoadingEngine", "URLLoadingPolicy", "URLLoadingWire", "URLLoadingTLS", "URLLoadingTrust",
                "URLLoadingSystem",
            ]),

        // Carries the transfers of background sessions on when their program has gone.
        .executableTarget(name: "URLLoadingTransfers", dependencies: ["URLLoading"], path: "Sources/Transfers"),

        // Apple's older classes, on top of the library.
        .target(
            name: "URLLoadingLegacy", dependencies: ["URLLoading", "URLLoadingPolicy", "URLLoadingWire"],
            path: "Sources/Legacy"),

        // Built on the layers, never shipped inside the library.
        .target(
            name: "URLLoadingLoopbackServer",
            dependencies: [
                "URLLoadingSystem", "URLLoadingTLS", "URLLoadingTrust", "URLLoadingWire", "CURLLoadingOpenSSL",
                "CURLLoadingZlib",
            ], path: "Sources/LoopbackServer"),
        .executableTarget(name: "URLLoadingFetch", dependencies: ["URLLoading"], path: "Sources/Fetch"),
        .executableTarget(
            name: "URLLoadingDemo", dependencies: ["URLLoading", "URLLoadingLoopbackServer"], path: "Sources/Demo"),

        // One test target per layer, and what they share.
        .target(
            name: "URLLoadingTestSupport", dependencies: ["URLLoadingSystem"],
            path: "Tests/Support"),
        .executableTarget(
            name: "URLLoadingTestPrograms",
            dependencies: [
                "URLLoading", "URLLoadingLegacy", "URLLoadingEngine", "URLLoadingPolicy", "URLLoadingTrust",
                "URLLoadingWire", "URLLoadingSystem", "URLLoadingLoopbackServer", "URLLoadingTestSupport",
                "CURLLoadingOpenSSL",
            ], path: "Tests/Programs"),
        .testTarget(
            name: "URLLoadingWireTests", dependencies: ["URLLoadingWire", "URLLoadingTestSupport"],
            path: "Tests/WireTests"),
        .testTarget(
            name: "URLLoadingTrustTests",
            dependencies: [
                "URLLoadingTrust", "URLLoadingSystem", "URLLoadingLoopbackServer", "CURLLoadingOpenSSL",
                "URLLoadingTestPrograms", "URLLoadingTestSupport",
            ], path: "Tests/TrustTests"),
        .testTarget(
            name: "URLLoadingTLSTests",
            dependencies: [
                "URLLoadingTLS", "URLLoadingTrust", "URLLoadingSystem", "URLLoadingLoopbackServer",
                "URLLoadingTestSupport", "CURLLoadingOpenSSL",
            ], path: "Tests/TLSTests"),
        .testTarget(
            name: "URLLoadingSystemTests", dependencies: ["URLLoadingSystem", "URLLoadingTestSupport"],
            path: "Tests/SystemTests"),
        .testTarget(
            name: "URLLoadingPolicyTests",
            dependencies: ["URLLoadingPolicy", "URLLoadingWire", "URLLoadingTrust", "URLLoadingTestSupport"],
            path: "Tests/PolicyTests"),
        .testTarget(
            name: "URLLoadingEngineTests",
            dependencies: ["URLLoadingEngine", "URLLoadingLoopbackServer", "URLLoadingTestSupport"],
            path: "Tests/EngineTests"),
        .testTarget(
            name: "URLLoadingTests",
            dependencies: [
                "URLLoading", "URLLoadingLoopbackServer", "URLLoadingTestSupport", "URLLoadingTestPrograms",
                "URLLoadingTransfers", "URLLoadingFetch",
            ]),
        .testTarget(
            name: "URLLoadingSurfaceTests",
            dependencies: ["URLLoading", "URLLoadingLegacy", "URLLoadingLoopbackServer", "URLLoadingTestSupport"],
            path: "Tests/SurfaceTests"),
        // Code as it is written for Apple's platforms, compiled in both language modes.
        .target(
            name: "URLLoadingSamplesSwift5", dependencies: ["URLLoading"], path: "Tests/Samples/Swift5",
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(name: "URLLoadingSamplesSwift6", dependencies: ["URLLoading"], path: "Tests/Samples/Swift6"),
        .target(
            name: "URLLoadingSamplesLegacy", dependencies: ["URLLoading", "URLLoadingLegacy"],
            path: "Tests/Samples/Legacy", swiftSettings: [.swiftLanguageMode(.v5)]),
        // The first program that README.md shows.
        .executableTarget(
            name: "URLLoadingReadmeProgram", dependencies: ["URLLoading"], path: "Tests/Samples/Readme"),
        // The programs that the tutorials build.
        .executableTarget(
            name: "URLLoadingPinTutorial", dependencies: ["URLLoading"], path: "Tests/Samples/PinTutorial"),
        .executableTarget(
            name: "URLLoadingArchiveTutorial", dependencies: ["URLLoading"], path: "Tests/Samples/ArchiveTutorial"),
        .testTarget(
            name: "URLLoadingSampleTests",
            dependencies: [
                "URLLoadingSamplesSwift5", "URLLoadingSamplesSwift6", "URLLoadingSamplesLegacy",
                "URLLoadingReadmeProgram", "URLLoadingPinTutorial", "URLLoadingArchiveTutorial",
                "URLLoadingLoopbackServer", "URLLoadingTestSupport", "URLLoadingTrust",
            ], path: "Tests/SampleTests"),
        .testTarget(
            name: "URLLoadingLegacyTests",
            dependencies: [
                "URLLoadingLegacy", "URLLoadingSamplesLegacy", "URLLoadingLoopbackServer", "URLLoadingWire",
                "URLLoadingTestSupport", "URLLoadingTrust", "URLLoadingTestPrograms",
            ], path: "Tests/LegacyTests"),
        .executableTarget(
            name: "URLLoadingConformanceDriver",
            dependencies: ["URLLoading", "URLLoadingPolicy", "URLLoadingTrust", "URLLoadingTestSupport"],
            path: "Tests/Conformance/Driver"),
        .executableTarget(
            name: "URLLoadingConformance",
            dependencies: [
                "URLLoadingConformanceDriver", "URLLoadingLoopbackServer", "URLLoadingWire", "URLLoadingTLS",
                "URLLoadingTrust", "CURLLoadingOpenSSL", "URLLoadingTestSupport",
            ], path: "Tests/Conformance/Runner"),
        .testTarget(
            name: "URLLoadingConformanceTests",
            dependencies: [
                "URLLoadingConformance", "URLLoadingConformanceDriver", "URLLoadingLoopbackServer", "URLLoadingTLS",
                "URLLoadingTrust", "URLLoadingTestSupport",
            ], path: "Tests/Conformance/Tests"),
        .testTarget(
            name: "URLLoadingSoakTests", dependencies: ["URLLoadingTestPrograms", "URLLoadingTestSupport"],
            path: "Tests/SoakTests"),
        .testTarget(
            name: "URLLoadingLoopbackServerTests",
            dependencies: [
                "URLLoadingLoopbackServer", "URLLoadingWire", "URLLoadingTLS", "URLLoadingTrust", "URLLoadingSystem",
                "URLLoadingTestSupport",
            ], path: "Tests/LoopbackServerTests"),
        .testTarget(
            name: "URLLoadingRealPeersTests",
            dependencies: [
                "URLLoading", "URLLoadingSamplesSwift6", "URLLoadingLoopbackServer", "URLLoadingTestSupport",
                "URLLoadingTestPrograms", "URLLoadingFetch",
            ], path: "Tests/RealPeersTests"),
        .testTarget(
            name: "URLLoadingFetchTests",
            dependencies: [
                "URLLoadingFetch", "URLLoadingPolicy", "URLLoadingLoopbackServer", "URLLoadingWire",
                "URLLoadingTestSupport", "URLLoadingTestPrograms",
            ], path: "Tests/FetchTests"),

        // The harness, and our own client in the form in which it measures all others.
        .executableTarget(name: "URLLoadingClient", dependencies: ["URLLoading"], path: "Benchmarks/Client"),
        .executableTarget(
            name: "URLLoadingBenchmarks",
            dependencies: [
                "URLLoading", "URLLoadingLoopbackServer", "URLLoadingTLS", "URLLoadingTrust", "URLLoadingSystem",
                "URLLoadingWire", "URLLoadingPolicy", "CURLLoadingOpenSSL", "URLLoadingClient",
            ], path: "Benchmarks/Harness"),
    ],
    swiftLanguageModes: [.v6]
)
