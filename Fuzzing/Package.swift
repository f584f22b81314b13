// swift-tools-version: 6.2
import PackageDescription

// What reads the bytes of strangers, with libFuzzer around it, built with AddressSanitizer. A package of its
// own that has the same files by links: so nothing of the pipeline or the views is instrumented, and a build
// takes some minutes. scripts/fuzz builds and runs it.
let package = Package(
    name: "halcyon-fuzzing",
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0")
    ],
    targets: [
        .systemLibrary(name: "CVips", pkgConfig: "vips"),
        .systemLibrary(name: "CWebP", pkgConfig: "libwebpdemux"),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl"),
        .systemLibrary(name: "CGLib", pkgConfig: "glib-2.0"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl"),
        .systemLibrary(name: "CXXHash", pkgConfig: "libxxhash"),
        .target(name: "CDecoding"),
        .target(name: "CWorker"),
        .target(
            name: "CJPEG", dependencies: ["CDecoding"], linkerSettings: [.linkedLibrary("jpeg")]),
        .target(name: "CPixels"),
        .target(name: "CPNG", linkerSettings: [.linkedLibrary("deflate")]),
        .target(name: "CoefficientJPEG", dependencies: ["CDecoding", "CPixels"]),
        .target(
            name: "DirectCodecs",
            dependencies: [
                "CAVIF", "CDecoding", "CJPEG", "CJXL", "CPNG", "CPixels", "CWebP",
                "CoefficientJPEG",
            ]),
        .target(name: "CLibrary"),
        .target(name: "CAVIF", dependencies: ["CLibrary"]),
        .target(name: "CJXL", dependencies: ["CLibrary"]),
        .target(name: "Vips", dependencies: ["CVips"]),
        .systemLibrary(name: "CContentCoding"),
        .target(name: "CSignals"),
        .target(name: "HalcyonWork", dependencies: ["CGLib", "COpenSSL", "CSignals"]),
        .target(name: "HalcyonHTTP", dependencies: ["CContentCoding", "CCurl", "HalcyonWork"]),
        .target(name: "CFileSystem"),
        .target(name: "CIndexFiles", linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(
            name: "HalcyonPixels",
            dependencies: ["CDecoding", "CJPEG", "CWorker", "DirectCodecs", "HalcyonWork", "Vips"]),
        // Files of the target Halcyon that need nothing else of it.
        .target(name: "Readers", dependencies: ["HalcyonWork"]),
        .target(
            name: "HalcyonStorage",
            dependencies: [
                "CFileSystem", "CIndexFiles", "CXXHash", "HalcyonWork",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "CJPEG", "CPNG", "CoefficientJPEG", "DirectCodecs", "HalcyonHTTP", "HalcyonPixels",
                "HalcyonStorage", "Readers", "Vips", .product(name: "GRDB", package: "GRDB.swift"),
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
