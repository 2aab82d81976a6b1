// swift-tools-version: 6.2
// The house is described in docs/architecture.md; dependencies below point strictly downwards.
import PackageDescription

let package = Package(
    name: "URLLoading",
    products: [
        .library(name: "URLLoading", targets: ["URLLoading"]),
        .library(name: "URLLoadingLegacy", targets: ["URLLoadingLegacy"]),
        .executable(name: "fetch", targets: ["fetch"]),
        .executable(name: "urlloading-transfers", targets: ["urlloading-transfers"]),
    ],
    targets: [
        // What Swift cannot import by itself: headers only.
        .systemLibrary(name: "CGSSAPI"),
        .systemLibrary(name: "CPlatform"),
        // No pkgConfig: the module maps name the libraries, and a machine without pkg-config would only be warned.
        .systemLibrary(name: "COpenSSL"),
        .systemLibrary(name: "CZlib"),

        // The layers, from the ground up.
        .target(name: "HTTPWire", dependencies: ["CZlib"]),
        .target(name: "Trust", dependencies: ["COpenSSL"]),
        .target(name: "TLS", dependencies: ["Trust", "COpenSSL"]),
        .target(name: "Sockets", dependencies: ["CPlatform"]),
        .target(name: "LoadingPolicy", dependencies: ["HTTPWire"]),
        .target(
            name: "LoadingEngine", dependencies: ["LoadingPolicy", "HTTPWire", "TLS", "Trust", "Sockets", "CGSSAPI"]),
        .target(
            name: "URLLoading",
            dependencies: ["LoadingEngine", "LoadingPolicy", "HTTPWire", "TLS", "Trust", "Sockets"]),

        // Carries the transfers of background sessions on when their program has gone.
        .executableTarget(name: "urlloading-transfers", dependencies: ["URLLoading"]),

        // Apple's older classes, on top of the library.
        .target(name: "URLLoadingLegacy", dependencies: ["URLLoading", "LoadingPolicy", "HTTPWire"]),

        // Built on the layers, never shipped inside the library.
        .target(name: "LoopbackServer", dependencies: ["Sockets", "TLS", "Trust", "HTTPWire", "COpenSSL", "CZlib"]),
        .executableTarget(name: "fetch", dependencies: ["URLLoading"]),
        .executableTarget(name: "demo", dependencies: ["URLLoading", "LoopbackServer"]),

        // One test target per layer, and what they share.
        .target(name: "TestSupport", dependencies: ["Sockets", "CPlatform"], path: "Tests/Support"),
        .testTarget(name: "HTTPWireTests", dependencies: ["HTTPWire", "TestSupport"]),
        .executableTarget(name: "worst-cases", dependencies: ["Trust", "LoopbackServer"], path: "Tests/WorstCases"),
        .testTarget(name: "TrustTests", dependencies: ["Trust", "LoopbackServer", "COpenSSL", "worst-cases"]),
        .testTarget(name: "TLSTests", dependencies: ["TLS", "Trust", "LoopbackServer", "COpenSSL"]),
        .testTarget(name: "SocketsTests", dependencies: ["Sockets", "TestSupport"]),
        .testTarget(
            name: "LoadingPolicyTests", dependencies: ["LoadingPolicy", "HTTPWire", "Trust", "TestSupport"]),
        .testTarget(
            name: "LoadingEngineTests", dependencies: ["LoadingEngine", "LoopbackServer", "TestSupport"]),
        .executableTarget(
            name: "cache-tool", dependencies: ["URLLoading", "TestSupport"], path: "Tests/CacheTool"),
        .executableTarget(
            name: "cookie-tool", dependencies: ["URLLoading", "LoadingPolicy", "TestSupport"], path: "Tests/CookieTool"),
        .executableTarget(
            name: "resume-tool", dependencies: ["URLLoading", "LoopbackServer", "TestSupport", "Trust"],
            path: "Tests/ResumeTool"),
        .executableTarget(
            name: "upload-tool",
            dependencies: ["URLLoading", "LoopbackServer", "LoadingEngine", "LoadingPolicy", "TestSupport"],
            path: "Tests/UploadTool"),
        .executableTarget(
            name: "background-tool", dependencies: ["URLLoading", "TestSupport"], path: "Tests/BackgroundTool"),
        .testTarget(
            name: "URLLoadingTests",
            dependencies: [
                "URLLoading", "LoopbackServer", "TestSupport", "cache-tool", "cookie-tool", "resume-tool",
                "upload-tool", "background-tool", "urlloading-transfers",
            ]),
        .testTarget(
            name: "SurfaceTests", dependencies: ["URLLoading", "URLLoadingLegacy", "LoopbackServer", "TestSupport"]),
        // Code as it is written for Apple's platforms, compiled in both language modes.
        .target(
            name: "SamplesSwift5", dependencies: ["URLLoading"], path: "Tests/Samples/Swift5",
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(name: "SamplesSwift6", dependencies: ["URLLoading"], path: "Tests/Samples/Swift6"),
        // The first program that README.md shows.
        .executableTarget(name: "readme-program", dependencies: ["URLLoading"], path: "Tests/Samples/Readme"),
        .testTarget(
            name: "SampleTests",
            dependencies: [
                "SamplesSwift5", "SamplesSwift6", "SamplesLegacy", "readme-program", "LoopbackServer", "TestSupport",
                "Trust",
            ]),
        .target(
            name: "SamplesLegacy", dependencies: ["URLLoading", "URLLoadingLegacy"], path: "Tests/Samples/Legacy",
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .executableTarget(
            name: "legacy-client", dependencies: ["URLLoading", "URLLoadingLegacy"], path: "Tests/LegacyClient"),
        .testTarget(
            name: "URLLoadingLegacyTests",
            dependencies: [
                "URLLoadingLegacy", "SamplesLegacy", "LoopbackServer", "HTTPWire", "TestSupport", "Trust",
                "legacy-client",
            ]),
        .testTarget(name: "BehaviourTests", dependencies: ["URLLoading", "LoopbackServer", "TestSupport", "fetch"]),
        // What the conformance driver and those who drive one share: lines, JSON, the driver as a process.
        .target(
            name: "ConformanceSupport", dependencies: ["TestSupport"], path: "Tests/Conformance/Support"),
        .executableTarget(
            name: "conformance-driver", dependencies: ["URLLoading", "LoadingPolicy", "Trust", "ConformanceSupport"],
            path: "Tests/Conformance/Driver"),
        .testTarget(
            name: "ConformanceDriverTests",
            dependencies: [
                "conformance-driver", "ConformanceSupport", "LoopbackServer", "TLS", "Trust", "TestSupport",
            ],
            path: "Tests/Conformance/DriverTests"),
        .executableTarget(
            name: "conformance",
            dependencies: [
                "conformance-driver", "ConformanceSupport", "LoopbackServer", "HTTPWire", "TLS", "Trust", "COpenSSL",
                "TestSupport",
            ], path: "Tests/Conformance/Runner"),
        .testTarget(
            name: "ConformanceTests", dependencies: ["conformance", "ConformanceSupport", "TestSupport"],
            path: "Tests/Conformance/RunnerTests"),
        .executableTarget(
            name: "soak", dependencies: ["URLLoading", "LoopbackServer", "HTTPWire", "Trust", "TestSupport"],
            path: "Tests/Soak"),
        .executableTarget(
            name: "websocket-tool", dependencies: ["URLLoading", "LoopbackServer", "TestSupport"],
            path: "Tests/WebSocketTool"),
        .testTarget(name: "SoakTests", dependencies: ["soak", "websocket-tool", "TestSupport"]),
        .testTarget(
            name: "LoopbackServerTests",
            dependencies: ["LoopbackServer", "HTTPWire", "TLS", "Trust", "Sockets", "TestSupport"]),
        .executableTarget(name: "kerberos-client", dependencies: ["URLLoading"], path: "Tests/KerberosClient"),
        .testTarget(
            name: "RealPeersTests",
            dependencies: [
                "URLLoading", "SamplesSwift6", "LoopbackServer", "TestSupport", "kerberos-client", "fetch",
            ]),
        .executableTarget(name: "secret-client", dependencies: ["URLLoading"], path: "Tests/SecretClient"),
        .testTarget(
            name: "FetchTests",
            dependencies: ["fetch", "LoadingPolicy", "LoopbackServer", "HTTPWire", "TestSupport", "secret-client"]),

        // The harness, and our own client in the form in which it measures all others.
        .executableTarget(name: "urlloading-client", dependencies: ["URLLoading"], path: "Benchmarks/Client"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "LoopbackServer", "TLS", "Trust", "Sockets", "HTTPWire", "LoadingPolicy", "COpenSSL",
                "urlloading-client",
            ], path: "Benchmarks/Harness"),
    ],
    swiftLanguageModes: [.v6]
)
