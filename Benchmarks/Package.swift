// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "halcyon-benchmarks",
    products: [
        .executable(name: "halcyon-benchmarks", targets: ["HalcyonBenchmarks"]),
        .executable(name: "halcyon-gtk-benchmarks", targets: ["HalcyonGTKBenchmarks"]),
    ],
    dependencies: [
        .package(name: "halcyon", path: ".."),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.29.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "HalcyonBenchmarks",
            dependencies: [
                .product(name: "Halcyon", package: "halcyon"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        // A program of its own: the others need no GTK.
        .executableTarget(
            name: "HalcyonGTKBenchmarks",
            dependencies: [
                .product(name: "Halcyon", package: "halcyon"),
                .product(name: "HalcyonGTK", package: "halcyon"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatAllWarnings(as: .error),
        .treatWarning("DeprecatedDeclaration", as: .warning),
    ]
}
