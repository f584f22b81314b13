// swift-tools-version: 6.2
import PackageDescription

// Targets are in the order of the folders of Sources and Tests. Who depends on Halcyon alone fetches GRDB and swift-log:
// what only servers and programs need is behind a trait, which is on in a clone of this repository. It is one: SwiftPM
// passes the names of several to the compiler in an order that changes from run to run, and with it all is built anew.

/// Whether SwiftPM reads this manifest for a package that depends on it: in its folder of checkouts, or from a commit.
let isDependency =
    Context.packageDirectory == "/"
    || Context.packageDirectory.split(separator: "/").dropLast().last == "checkouts"

func forServers(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Server"]))
}

let arguments = forServers("ArgumentParser", "swift-argument-parser")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioCore = forServers("NIOCore", "swift-nio")
let nioPosix = forServers("NIOPosix", "swift-nio")
let nioHTTP1 = forServers("NIOHTTP1", "swift-nio")
let tracing = forServers("Tracing", "swift-distributed-tracing")
let inMemoryTracing = forServers("InMemoryTracing", "swift-distributed-tracing")
let serviceLifecycle = forServers("ServiceLifecycle", "swift-service-lifecycle")
let configuration = forServers("Configuration", "swift-configuration")
let hummingbird = forServers("Hummingbird", "hummingbird")

let package = Package(
    name: "halcyon",
    products: [
        .library(name: "Halcyon", targets: ["Halcyon"]),
        .library(name: "HalcyonGTK", targets: ["HalcyonGTK"]),
        .library(name: "HalcyonS3", targets: ["HalcyonS3"]),
        .library(name: "HalcyonServer", targets: ["HalcyonServer"]),
        .library(name: "HalcyonTelemetry", targets: ["HalcyonTelemetry"]),
        .library(name: "HalcyonTesting", targets: ["HalcyonTesting"]),
        .library(name: "Vips", targets: ["Vips"]),
        .executable(name: "halcyon", targets: ["HalcyonCLI"]),
        .executable(name: "halcyon-gallery", targets: ["HalcyonGallery"]),
        .executable(name: "halcyon-server", targets: ["HalcyonServerCLI"]),
    ],
    traits: [
        .trait(
            name: "Server",
            description: "Servers, S3, telemetry and the programs, with SwiftNIO and others"),
        .default(enabledTraits: isDependency ? [] : ["Server"]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.34.1"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1",
            traits: []),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.0"),
        .package(
            url: "https://github.com/apple/swift-configuration.git", from: "1.4.0", traits: []),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
    ],
    swiftLanguageModes: [.v6]
)

/// Adds targets that lie in `folder`, each in one of its own name, less what all names there have in common.
@MainActor func add(in folder: String, _ targets: [Target]) {
    for target in targets {
        var name = target.name[...]
        if target.type == .test {
            if name.hasPrefix("Halcyon") { name = name.dropFirst("Halcyon".count) }
            name = name.dropLast("Tests".count)
        }
        target.path = "\(folder)/\(name)"
    }
    package.targets += targets
}

add(
    in: "Sources/Library",
    [
        .target(
            name: "Halcyon",
            dependencies: [
                "HalcyonHTTP", "HalcyonPixels", "HalcyonStorage", "HalcyonWork", logging,
            ]),
        // Bytes, pixels, formats and operations on pixels; nothing of requests and caches.
        .target(
            name: "HalcyonPixels",
            dependencies: ["CCodecs", "CProcesses", "DirectCodecs", "HalcyonWork", "Vips"]),
        // Memory and disk by key; nothing of images.
        .target(
            name: "HalcyonStorage", dependencies: ["CStorage", "HalcyonWork", grdb]),
        // Bytes over HTTP, by libcurl; nothing of images.
        .target(name: "HalcyonHTTP", dependencies: ["CHTTP", "HalcyonWork"]),
        // Threads, time, digests: nothing of images, files or HTTP.
        .target(name: "HalcyonWork", dependencies: ["COpenSSL", "CProcesses"]),
        .target(name: "Vips", dependencies: ["CVips"]),
    ])

add(
    in: "Sources/Codecs",
    [
        .target(name: "DirectCodecs", dependencies: ["CCodecs", "CoefficientJPEG"]),
        .target(name: "CoefficientJPEG", dependencies: ["CCodecs"]),
        // The libraries come with libvips-dev, libdeflate's by way of it; libavif and libjxl are loaded when they are
        // needed.
        .target(
            name: "CCodecs",
            linkerSettings: ["jpeg", "deflate", "webp", "webpdemux"].map { .linkedLibrary($0) }),
    ])

add(in: "Sources/Desktop", [.target(name: "HalcyonGTK", dependencies: ["Halcyon", "CGtk4"])])

add(
    in: "Sources/Server",
    [
        .target(
            name: "HalcyonServer",
            dependencies: [
                "CStorage", "Halcyon", "HalcyonCluster", "HalcyonHTTP", "HalcyonPixels",
                "HalcyonServerURLs", "HalcyonStorage", "HalcyonTelemetry", "HalcyonWork", "Vips",
                configuration,
                forServers("HTTPTypes", "swift-http-types"),
                hummingbird,
                forServers("HummingbirdCore", "hummingbird"),
                logging,
                nioCore,
                forServers("NIOFoundationCompat", "swift-nio"),
                nioHTTP1,
                forServers("NIOHTTPTypes", "swift-nio-extras"),
                forServers("NIOHTTPTypesHTTP1", "swift-nio-extras"),
                nioPosix,
                serviceLifecycle,
                tracing,
            ],
            resources: [.embedInCode("Page/Resources")]),
        // URLs of the image server, and its answers, as values.
        .target(name: "HalcyonServerURLs", dependencies: ["HalcyonWork"]),
        // Leases, records and bytes that several machines share.
        .target(
            name: "HalcyonCluster",
            dependencies: [
                "COpenSSL", "HalcyonHTTP", "HalcyonWork", "ServerTrait", nioCore, nioPosix,
            ]),
        // Caches that share their images in a store of Amazon's protocol.
        .target(name: "HalcyonS3", dependencies: ["Halcyon", "HalcyonCluster"]),
        // The events of a manager as metrics and spans; the server's spans are made with it, too.
        .target(
            name: "HalcyonTelemetry",
            dependencies: [
                "Halcyon", "HalcyonWork", "ServerTrait", forServers("Metrics", "swift-metrics"),
                tracing,
            ]),
        // Names the trait where it is off.
        .target(name: "ServerTrait"),
    ])

add(
    in: "Sources/Programs",
    [
        .executableTarget(
            name: "HalcyonCLI",
            dependencies: [
                "CStorage", "Halcyon", "HalcyonHTTP", "HalcyonSamples", "HalcyonWork", "Vips",
                arguments, logging,
            ]),
        .executableTarget(
            name: "HalcyonServerCLI",
            dependencies: [
                "Halcyon", "HalcyonSamples", "HalcyonServer", "HalcyonWork", arguments, logging,
            ]),
        .executableTarget(
            name: "HalcyonGallery",
            dependencies: [
                "CGtk4", "Halcyon", "HalcyonGTK", "HalcyonSamples", "HalcyonWork", arguments,
            ]),
        // Pictures, and the server of the demonstration and the gallery.
        .target(name: "HalcyonSamples", resources: [.copy("Samples")]),
    ])

add(
    in: "Sources/Testing",
    [
        // For tests of other programs, without a test framework and SwiftNIO.
        .target(name: "HalcyonTesting", dependencies: ["Halcyon", "HalcyonHTTP", "HalcyonWork"])
    ])

add(
    in: "Sources/System",
    [
        // By the pkg-config file of GObject, where its headers need some folder: that of libvips has flags of all libraries
        // below it, one of which SwiftPM warns of in each build.
        .systemLibrary(
            name: "CVips", pkgConfig: "gobject-2.0", providers: [.apt(["libvips-dev"])]),
        // libcurl, and what unpacks bodies, which comes with libvips-dev.
        .systemLibrary(
            name: "CHTTP", pkgConfig: "libcurl",
            providers: [
                .apt(["libcurl4-openssl-dev", "zlib1g-dev", "libbrotli-dev", "libzstd-dev"])
            ]),
        // For digests, for connections to Redis, and for the server of the tests.
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CGtk4", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
        // Files, their checksums, and the SQLite file system of the index.
        .target(
            name: "CStorage", linkerSettings: [.linkedLibrary("sqlite3"), .linkedLibrary("xxhash")]),
        // Signals; processes that decode, and the wall around them.
        .target(name: "CProcesses"),
    ])

add(
    in: "Tests/Support",
    [
        .target(
            name: "HalcyonTestKit",
            dependencies: [
                "COpenSSL", "Halcyon", "HalcyonHTTP", "HalcyonPixels", "HalcyonTesting",
                "HalcyonWork", "Vips", nioCore, nioPosix, nioHTTP1,
                forServers("NIOTLS", "swift-nio"), forServers("NIOHTTP2", "swift-nio-http2"),
            ]),
        .target(
            name: "HalcyonGTKTestKit",
            dependencies: ["CGtk4", "Halcyon", "HalcyonGTK", "HalcyonWork"]),
        // A getaddrinfo() that tests tell what to answer, a JPEG decoder to compare with, and misbehaviour of decoders.
        .target(name: "CTestKit", linkerSettings: [.linkedLibrary("jpeg")]),
        // JPEG files of all kinds, sound and damaged; run by scripts/fuzz-jpeg.
        .executableTarget(
            name: "CoefficientJPEGTestKit", dependencies: ["CTestKit", "CoefficientJPEG"]),
        // Interrupted by scripts/crash-test, and by tests beside it.
        .executableTarget(
            name: "CacheCrashStep", dependencies: ["Halcyon", "HalcyonStorage"]),
        // Decodes pictures that should not be decoded, for scripts/hostile killers and tests.
        .executableTarget(
            name: "DecodingTrial",
            dependencies: ["CTestKit", "Halcyon", "HalcyonPixels", "HalcyonWork", "Vips"]),
    ])

add(
    in: "Tests",
    [
        .testTarget(name: "HalcyonWorkTests", dependencies: ["HalcyonWork", "HalcyonTestKit"]),
        .testTarget(
            name: "HalcyonHTTPTests",
            dependencies: ["Halcyon", "HalcyonHTTP", "HalcyonTestKit"]),
        .testTarget(
            name: "HalcyonStorageTests",
            dependencies: ["HalcyonStorage", "HalcyonTestKit", "HalcyonWork", grdb]),
        .testTarget(
            name: "HalcyonCodecsTests",
            dependencies: [
                "CCodecs", "CTestKit", "CoefficientJPEG", "CoefficientJPEGTestKit",
                "DirectCodecs", "HalcyonTestKit", "Vips",
            ]),
        .testTarget(name: "VipsTests", dependencies: ["Vips"]),
        .testTarget(
            name: "HalcyonPixelsTests",
            dependencies: [
                "CCodecs", "CTestKit", "DecodingTrial", "DirectCodecs", "Halcyon", "HalcyonPixels",
                "HalcyonTestKit", "HalcyonWork", "Vips",
            ],
            // The encoders that draw files for tests.
            linkerSettings: [.linkedLibrary("avif"), .linkedLibrary("jxl")]),
        .testTarget(
            name: "HalcyonPipelineTests",
            dependencies: [
                "CacheCrashStep", "Halcyon", "HalcyonHTTP", "HalcyonPixels", "HalcyonStorage",
                "HalcyonTestKit", "HalcyonTesting", "HalcyonWork", "Vips",
            ]),
        .testTarget(
            name: "HalcyonPresentationTests",
            dependencies: ["Halcyon", "HalcyonTestKit", "HalcyonWork"]),
        // The targets of Fuzzing with the cases that are kept there.
        .testTarget(
            name: "FuzzCasesTests",
            dependencies: [
                "CCodecs", "CoefficientJPEG", "DirectCodecs", "HalcyonHTTP",
                "HalcyonPixels", "HalcyonStorage", "HalcyonTestKit", "Vips", grdb,
            ]),
        .testTarget(
            name: "HalcyonGTKTests",
            dependencies: [
                "CGtk4", "Halcyon", "HalcyonExamples", "HalcyonGTK", "HalcyonGTKTestKit",
                "HalcyonTestKit",
            ]),
        .testTarget(
            name: "HalcyonGalleryTests",
            dependencies: [
                "CGtk4", "Halcyon", "HalcyonGTK", "HalcyonGTKTestKit", "HalcyonGallery",
                "HalcyonSamples", "HalcyonTestKit", "HalcyonWork",
            ]),
        .testTarget(
            name: "HalcyonCLITests",
            dependencies: [
                "Halcyon", "HalcyonCLI", "HalcyonExamples", "HalcyonSamples", "HalcyonStorage",
                "HalcyonTestKit", "HalcyonTesting", "HalcyonWork",
            ]),
        .testTarget(
            name: "HalcyonServerTests",
            dependencies: [
                "CTestKit", "Halcyon", "HalcyonExamples", "HalcyonHTTP", "HalcyonPixels",
                "HalcyonSamples", "HalcyonServer", "HalcyonServerCLI", "HalcyonTelemetry",
                "HalcyonTestKit", "HalcyonWork", configuration,
                forServers("HTTPTypes", "swift-http-types"),
                hummingbird, inMemoryTracing, logging, nioCore,
                forServers("NIOEmbedded", "swift-nio"), nioHTTP1,
                forServers("NIOHTTPTypes", "swift-nio-extras"),
                forServers("NIOHTTPTypesHTTP1", "swift-nio-extras"), serviceLifecycle, tracing,
            ]),
        .testTarget(
            name: "HalcyonServerURLsTests",
            dependencies: ["HalcyonServerURLs", "HalcyonTestKit"]),
        .testTarget(
            name: "HalcyonClusterTests",
            dependencies: [
                "Halcyon", "HalcyonCluster", "HalcyonS3", "HalcyonTestKit", "HalcyonWork", nioCore,
                nioPosix,
            ]),
        .testTarget(
            name: "HalcyonTelemetryTests",
            dependencies: [
                "Halcyon", "HalcyonTelemetry", "HalcyonTestKit", inMemoryTracing,
                forServers("MetricsTestKit", "swift-metrics"), tracing,
            ]),
    ])

// Programs to begin with, a file each: `swift run HalcyonExamples` names them. Tests call them.
package.targets.append(
    .executableTarget(
        name: "HalcyonExamples",
        dependencies: [
            "CGtk4", "Halcyon", "HalcyonGTK", "HalcyonServer", hummingbird, nioCore,
        ],
        path: "Examples"))

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
    let others = ["CLI", "Cluster", "Examples", "GTK", "Gallery", "S3", "Server", "Telemetry"]
    package.targets.removeAll { target in
        others.contains { target.name.hasPrefix("Halcyon" + $0) }
    }
    package.products.removeAll { !["Halcyon", "HalcyonTesting", "Vips"].contains($0.name) }
}
