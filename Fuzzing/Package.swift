// swift-tools-version: 6.2
import PackageDescription

// The decoders of the project with libFuzzer around them, built with AddressSanitizer. A package of its own
// that has the same files by links: so nothing of the network, the cache or the views is instrumented, and a
// build takes a minute. scripts/fuzz builds and runs it.
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
        .target(name: "CLibrary"),
        .target(name: "CAVIF", dependencies: ["CLibrary"]),
        .target(name: "CJXL", dependencies: ["CLibrary"]),
        .target(name: "CQuiet"),
        .target(name: "Vips", dependencies: ["CVips"]),
        // Files of the target Halcyon that need nothing else of it.
        .target(name: "Readers", dependencies: ["CDecoding", "DirectCodecs", "Vips"]),
        .executableTarget(
            name: "Fuzz",
            dependencies: ["CJPEG", "DirectCodecs", "CoefficientJPEG", "Readers", "Vips"],
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
