// swift-tools-version: 6.2
import PackageDescription

// Readers of untrusted bytes with libFuzzer around them, built with AddressSanitizer. A package of its own, whose targets
// are those of Halcyon by a link to their folder: nothing of the pipeline or the views is instrumented, and a build takes
// some minutes. scripts/fuzz builds and runs it.
let package = Package(
    name: "halcyon-fuzzing",
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0")
    ],
    targets: [
        .systemLibrary(name: "CVips", pkgConfig: "gobject-2.0"),
        .systemLibrary(name: "CHTTP", pkgConfig: "libcurl"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl"),
        .target(
            name: "CStorage", linkerSettings: [.linkedLibrary("sqlite3"), .linkedLibrary("xxhash")]),
        .target(name: "CProcesses"),
        .target(
            name: "CCodecs",
            linkerSettings: ["jpeg", "deflate", "webp", "webpdemux"].map { .linkedLibrary($0) }),
        .target(name: "CoefficientJPEG", dependencies: ["CCodecs"]),
        .target(name: "DirectCodecs", dependencies: ["CCodecs", "CoefficientJPEG"]),
        .target(name: "Vips", dependencies: ["CVips"]),
        .target(name: "HalcyonWork", dependencies: ["COpenSSL", "CProcesses"]),
        .target(name: "HalcyonHTTP", dependencies: ["CHTTP", "HalcyonWork"]),
        .target(
            name: "HalcyonPixels",
            dependencies: ["CCodecs", "CProcesses", "DirectCodecs", "HalcyonWork", "Vips"]),
        .target(
            name: "HalcyonStorage",
            dependencies: [
                "CStorage", "HalcyonWork",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "CCodecs", "CoefficientJPEG", "DirectCodecs", "HalcyonHTTP", "HalcyonPixels",
                "HalcyonStorage", "Vips", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address"])]),
    ],
    swiftLanguageModes: [.v6]
)

let folders = ["CoefficientJPEG": "Codecs", "DirectCodecs": "Codecs", "CCodecs": "Codecs"]
for target in package.targets where target.name != "Fuzz" {
    let group = target.name.hasPrefix("C") ? "System" : "Library"
    target.path = "Sources/Halcyon/\(folders[target.name] ?? group)/\(target.name)"
}

for target in package.targets where target.type != .system {
    target.cSettings = [.unsafeFlags(["-fsanitize=fuzzer-no-link,address", "-g"])]
    target.swiftSettings = [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .unsafeFlags(["-sanitize=fuzzer,address", "-enable-testing"]),
    ]
    if target.name == "Fuzz" {
        target.swiftSettings?.append(.unsafeFlags(["-parse-as-library"]))
    }
}
