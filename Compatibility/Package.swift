// swift-tools-version: 6.3
// A module of the name FoundationNetworking that is URLLoading. README.md says which programs need it.
import PackageDescription

let package = Package(
    name: "URLLoadingCompatibility",
    products: [
        .library(name: "FoundationNetworking", targets: ["FoundationNetworking"])
    ],
    dependencies: [
        .package(name: "URLLoading", path: "..")
    ],
    targets: [
        .target(name: "FoundationNetworking", dependencies: [.product(name: "URLLoading", package: "URLLoading")])
    ],
    swiftLanguageModes: [.v6]
)
