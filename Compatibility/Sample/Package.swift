// swift-tools-version: 5.9
// A library as others write it, and a program that uses it. The only sign of URLLoading is the dependency's path.
import PackageDescription

let package = Package(
    name: "Sample",
    dependencies: [
        .package(name: "URLLoadingCompatibility", path: "..")
    ],
    targets: [
        .target(
            name: "Weather",
            dependencies: [.product(name: "FoundationNetworking", package: "URLLoadingCompatibility")]),
        .executableTarget(
            name: "sample",
            dependencies: [
                "Weather", .product(name: "FoundationNetworking", package: "URLLoadingCompatibility"),
            ]),
    ]
)
