// swift-tools-version: 6.2
import PackageDescription

// The decoders of the project with libFuzzer around them, built with AddressSanitizer. A package of its own
// that has the same files by links: so nothing of the network, the cache or the views is instrumented.
// scripts/fuzz builds and runs it.
let package = Package(
    name: "halcyon-fuzzing",
    targets: [
        .systemLibrary(name: "CVips", pkgConfig: "vips"),
        .systemLibrary(name: "CWebP", pkgConfig: "libwebpdemux"),
        .target(name: "CDecoding"),
        .target(
            name: "CJPEG", dependencies: ["CDecoding"], linkerSettings: [.linkedLibrary("jpeg")]),
        .target(name: "CPixels"),
        .target(name: "CPNG", linkerSettings: [.linkedLibrary("deflate")]),
        .target(name: "CoefficientJPEG", dependencies: ["CPixels"]),
        .target(
            name: "DirectCodecs",
            dependencies: [
                "CAVIF", "CDecoding", "CJPEG", "CJXL", "CPNG", "CPixels", "CQuiet", "CWebP",
                "CoefficientJPEG",
            ]),
        .target(name: "CAVIF"),
        .target(name: "CJXL"),
        .target(name: "CQuiet"),
        .target(name: "Vips", dependencies: ["CVips"]),
        .systemLibrary(name: "CGLib", pkgConfig: "glib-2.0"),
        .target(name: "HalcyonWork", dependencies: ["CGLib"]),
        .target(
            name: "HalcyonPixels",
            dependencies: ["CDecoding", "CJPEG", "DirectCodecs", "HalcyonWork", "Vips"]),
        // A file of HalcyonHTTP, of which nothing else is wanted here.
        .target(name: "Addresses"),
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "Addresses", "CJPEG", "DirectCodecs", "CoefficientJPEG", "HalcyonPixels", "Vips",
            ],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address"])]),
    ],
    swiftLanguageModes: [.v6]
)

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
