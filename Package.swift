// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "halcyon",
    products: [
        .library(name: "Halcyon", targets: ["Halcyon"]),
        .library(name: "HalcyonGTK", targets: ["HalcyonGTK"]),
        .library(name: "HalcyonObservability", targets: ["HalcyonObservability"]),
        .library(name: "HalcyonS3", targets: ["HalcyonS3"]),
        .library(name: "HalcyonServer", targets: ["HalcyonServer"]),
        .library(name: "HalcyonTesting", targets: ["HalcyonTesting"]),
        .library(name: "Vips", targets: ["Vips"]),
        .executable(name: "halcyon", targets: ["HalcyonCLI"]),
        .executable(name: "halcyon-gallery", targets: ["HalcyonGallery"]),
        .executable(name: "halcyon-server", targets: ["HalcyonServerCLI"]),
    ],
    traits: [
        .trait(
            name: "Observability",
            description: "HalcyonObservability: metrics and spans of requests"
        )
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.34.1"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1",
            traits: []),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.0"),
        .package(
            url: "https://github.com/apple/swift-configuration.git", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CGLib", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
        // For digests, for connections to Redis, and for the server of the tests.
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        // What bodies are unpacked with; all three come with libvips-dev.
        .systemLibrary(
            name: "CContentCoding",
            providers: [.apt(["zlib1g-dev", "libbrotli-dev", "libzstd-dev"])]),
        .systemLibrary(
            name: "CXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"])]),
        .systemLibrary(
            name: "CWebP", pkgConfig: "libwebpdemux", providers: [.apt(["libwebp-dev"])]),
        .systemLibrary(
            name: "CGtk4", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
        // libjpeg-dev comes with libvips-dev, and libdeflate-dev by way of it.
        .target(name: "CDecoding"),
        // Processes that decode, and the wall around them.
        .target(name: "CWorker"),
        .target(
            name: "CJPEG", dependencies: ["CDecoding"], linkerSettings: [.linkedLibrary("jpeg")]),
        .target(name: "CPixels"),
        .target(name: "CFileSystem"),
        .target(name: "CIndexFiles", linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(name: "CPNG", linkerSettings: [.linkedLibrary("deflate")]),
        .target(
            name: "DirectCodecs",
            dependencies: [
                "CAVIF", "CDecoding", "CJPEG", "CJXL", "CPNG", "CPixels", "CWebP",
                "CoefficientJPEG",
            ]),
        // These two load their libraries when they are needed.
        .target(name: "CLibrary"),
        .target(name: "CAVIF", dependencies: ["CLibrary"]),
        .target(name: "CJXL", dependencies: ["CLibrary"]),
        // Keeps libraries from writing to the standard error stream.
        .target(name: "CoefficientJPEG", dependencies: ["CDecoding", "CPixels"]),
        .target(name: "Vips", dependencies: ["CVips"]),
        .target(name: "CSignals"),
        // Threads, digests: what knows nothing of images, files or HTTP.
        .target(name: "HalcyonWork", dependencies: ["CGLib", "COpenSSL", "CSignals"]),
        // Bytes over HTTP, by libcurl; nothing of images.
        .target(name: "HalcyonHTTP", dependencies: ["CContentCoding", "CCurl", "HalcyonWork"]),
        // Bytes, pixels, formats and operations on pixels; nothing of requests and caches.
        .target(
            name: "HalcyonPixels",
            dependencies: ["CDecoding", "CJPEG", "CWorker", "DirectCodecs", "HalcyonWork", "Vips"]),
        // Memory and disk by key; nothing of images.
        .target(
            name: "HalcyonStorage",
            dependencies: [
                "CFileSystem",
                "CIndexFiles",
                "CXXHash",
                "HalcyonWork",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        // What the URLs of the image server ask for and what its answers say, as values.
        .target(name: "HalcyonServerPlans", dependencies: ["HalcyonWork"]),
        .target(
            name: "Halcyon",
            dependencies: [
                "HalcyonHTTP",
                "HalcyonPixels",
                "HalcyonStorage",
                "HalcyonWork",
                .product(name: "Logging", package: "swift-log"),
            ]),
        // The events of a manager as metrics and spans; the image server's spans are made with it, too.
        .target(
            name: "HalcyonTelemetry",
            dependencies: [
                "Halcyon",
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        // The same for others, who turn on the trait; otherwise it only says so.
        .target(
            name: "HalcyonObservability",
            dependencies: [
                "Halcyon",
                .target(name: "HalcyonTelemetry", condition: .when(traits: ["Observability"])),
            ]),
        // What several machines share, on engines that others run: leases, records, bytes by name.
        .target(
            name: "HalcyonCluster",
            dependencies: [
                "COpenSSL",
                "HalcyonHTTP",
                "HalcyonWork",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        // Caches that share their images in a store of Amazon's protocol.
        .target(name: "HalcyonS3", dependencies: ["Halcyon", "HalcyonCluster"]),
        // The image server; only these two targets and their tests use the framework.
        .target(
            name: "HalcyonServer",
            dependencies: [
                "CFileSystem",
                "Halcyon",
                "HalcyonCluster",
                "HalcyonHTTP",
                "HalcyonPixels",
                "HalcyonServerPlans",
                "HalcyonStorage",
                "HalcyonTelemetry",
                "HalcyonWork",
                "Vips",
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            resources: [.embedInCode("Page/Resources")]),
        .executableTarget(
            name: "HalcyonServerCLI",
            dependencies: [
                "Halcyon",
                "HalcyonSamples",
                "HalcyonServer",
                "HalcyonWork",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        // For tests of other programs, without a test framework and SwiftNIO.
        .target(name: "HalcyonTestSupport"),
        .target(
            name: "HalcyonTesting",
            dependencies: ["Halcyon", "HalcyonHTTP", "HalcyonTestSupport"]),
        .target(
            name: "HalcyonTestKit",
            dependencies: [
                "COpenSSL",
                "HalcyonHTTP",
                "HalcyonTestSupport",
                "HalcyonWork",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
            ]),
        .target(
            name: "HalcyonPresentationTestKit", dependencies: ["Halcyon", "HalcyonTestKit"]),
        // The server of the demonstration and of the gallery.
        .target(name: "HalcyonSampleServer"),
        .target(name: "HalcyonSamples", resources: [.copy("Samples")]),
        .target(name: "HalcyonGTK", dependencies: ["Halcyon", "CGtk4"]),
        .target(
            name: "HalcyonGTKTestKit",
            dependencies: ["Halcyon", "HalcyonGTK", "HalcyonTestSupport", "CGtk4"]),
        .executableTarget(
            name: "HalcyonCLI",
            dependencies: [
                "Halcyon",
                "HalcyonHTTP",
                "HalcyonSampleServer",
                "HalcyonSamples",
                "HalcyonWork",
                "Vips",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        // What scripts/crash-test interrupts, and tests run beside them; no product.
        .executableTarget(
            name: "CacheCrashStep", dependencies: ["Halcyon", "HalcyonStorage"]),
        // What scripts/hostile killers and tests have decode what should not be; no product.
        .target(name: "CDecodingTrial"),
        .executableTarget(
            name: "DecodingTrial",
            dependencies: ["CDecodingTrial", "Halcyon", "HalcyonPixels", "HalcyonWork", "Vips"]),
        // What scripts/http-cache-proxy runs, for test suites of HTTP caches; no product.
        .executableTarget(
            name: "HTTPCacheProxy",
            dependencies: [
                "Halcyon",
                "HalcyonHTTP",
                "HalcyonStorage",
                "HalcyonWork",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        // Only for comparison with libjpeg: tests and scripts/fuzz-jpeg.
        .target(name: "CJPEGReference", linkerSettings: [.linkedLibrary("jpeg")]),
        .target(
            name: "CoefficientJPEGTestKit", dependencies: ["CoefficientJPEG", "CJPEGReference"]),
        .executableTarget(name: "CoefficientJPEGFuzz", dependencies: ["CoefficientJPEGTestKit"]),
        .executableTarget(
            name: "HalcyonGallery",
            dependencies: [
                "Halcyon",
                "HalcyonGTK",
                "HalcyonSampleServer",
                "HalcyonSamples",
                "HalcyonWork",
                "CGtk4",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .testTarget(name: "VipsTests", dependencies: ["Vips"]),
        .testTarget(name: "HalcyonWorkTests", dependencies: ["HalcyonWork", "HalcyonTestKit"]),
        .testTarget(
            name: "HalcyonHTTPTests",
            dependencies: [
                "HTTPCacheProxy", "Halcyon", "HalcyonHTTP", "HalcyonPixels", "HalcyonTestKit",
            ]),
        .testTarget(
            name: "HalcyonServerPlansTests",
            dependencies: ["HalcyonServerPlans", "HalcyonTestKit"]),
        .testTarget(
            name: "HalcyonClusterTests",
            dependencies: [
                "Halcyon", "HalcyonCluster", "HalcyonS3", "HalcyonTestKit", "HalcyonWork",
                .product(name: "NIOCore", package: "swift-nio"),
            ]),
        // A getaddrinfo() that tests tell what to answer.
        .target(name: "CScriptedNames"),
        .testTarget(
            name: "HalcyonServerTests",
            dependencies: [
                "CScriptedNames", "Halcyon", "HalcyonHTTP", "HalcyonPixels", "HalcyonSamples",
                "HalcyonServer",
                "HalcyonServerCLI", "HalcyonTelemetry", "HalcyonTestKit", "HalcyonWork",
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        .testTarget(
            name: "HalcyonTelemetryTests",
            dependencies: [
                "Halcyon", "HalcyonTelemetry", "HalcyonTestKit",
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        .testTarget(
            name: "HalcyonStorageTests",
            dependencies: [
                "HalcyonStorage", "HalcyonTestKit", "HalcyonWork",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .testTarget(
            name: "DirectCodecsTests",
            dependencies: [
                "DirectCodecs", "CPNG", "CPixels", "CoefficientJPEGTestKit", "HalcyonTestKit",
                "Vips",
            ]),
        .testTarget(
            name: "CoefficientJPEGTests",
            dependencies: [
                "CoefficientJPEG", "CoefficientJPEGTestKit", "CJPEGReference", "CPixels",
            ]),
        // The targets of Fuzzing with the cases that are kept there.
        .testTarget(
            name: "FuzzCasesTests",
            dependencies: [
                "CJPEG", "CPNG", "CoefficientJPEG", "DirectCodecs", "Halcyon", "HalcyonHTTP",
                "HalcyonPixels", "HalcyonStorage", "HalcyonTestKit", "Vips",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .testTarget(
            name: "HalcyonTestKitTests",
            dependencies: [
                "HalcyonHTTP",
                "HalcyonTestKit",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]),
        .testTarget(
            name: "HalcyonTests",
            dependencies: [
                "CAVIF", "CDecodingTrial", "CJPEG", "CJXL", "CacheCrashStep", "DecodingTrial",
                "DirectCodecs", "Halcyon", "HalcyonHTTP", "HalcyonPixels",
                "HalcyonPresentationTestKit", "HalcyonStorage",
                "HalcyonTestKit",
                "HalcyonTesting", "HalcyonWork", "Vips",
            ],
            // The encoders that draw files for tests.
            linkerSettings: [.linkedLibrary("avif"), .linkedLibrary("jxl")]),
        .testTarget(
            name: "HalcyonCLITests",
            dependencies: [
                "Halcyon", "HalcyonCLI", "HalcyonSamples", "HalcyonStorage", "HalcyonTestKit",
                "HalcyonWork",
            ]),
        .testTarget(
            name: "HalcyonGalleryTests",
            dependencies: [
                "Halcyon", "HalcyonGallery", "HalcyonGTKTestKit", "HalcyonSampleServer",
                "HalcyonSamples", "HalcyonTestKit",
            ]),
        .testTarget(
            name: "HalcyonGTKTests",
            dependencies: ["Halcyon", "HalcyonGTK", "HalcyonGTKTestKit", "HalcyonTestKit", "CGtk4"]),
    ],
    swiftLanguageModes: [.v6]
)

/// What every target of ours is compiled with.
for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatAllWarnings(as: .error),
        .treatWarning("DeprecatedDeclaration", as: .warning),
    ]
}

// scripts/thread-sanitizer builds no servers, windows and programs: it runs only tests of the library.
if Context.environment["HALCYON_LIBRARY_ALONE"] != nil {
    let others = ["CLI", "Cluster", "GTK", "Gallery", "Observability", "S3", "Server", "Telemetry"]
    package.targets.removeAll { target in
        others.contains { target.name.hasPrefix("Halcyon" + $0) }
    }
    package.products.removeAll { !["Halcyon", "HalcyonTesting", "Vips"].contains($0.name) }
}
