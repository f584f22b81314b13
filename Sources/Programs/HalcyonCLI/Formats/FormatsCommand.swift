import ArgumentParser
import Foundation
import Halcyon
import Vips

struct FormatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "formats",
        abstract: "List the formats that can be read and written on this machine.",
        discussion: """
            Tells what the installed libraries can do, and their versions. PDF is read only where it is allowed \
            (halcyon load --allow-pdf).
            """)

    @Flag(help: "Print a JSON object.")
    var json = false

    @OptionGroup(title: "Defaults")
    var configuration: ConfigurationOptions

    func run() async throws {
        let json = json
        try await CommandRunner.run { console in
            let formats = try await BlockingWork.run { FormatSupport.all() }
            if json {
                var object = JSONObject()
                for (name, version) in Self.libraries { object.add([name: version]) }
                object.add(["formats": formats.map(\.json)])
                return console.print(object.jsonText)
            }
            var table = Table(
                .init(title: "format"), .init(title: "read"), .init(title: "write"),
                .init(title: "read animated"), .init(title: "write animated"))
            for format in formats { table.add(format.row) }
            console.print(table.lines)
            console.print("")
            for (name, version) in Self.libraries { console.print("\(name) \(version)") }
        }
    }

    private static var libraries: [(name: String, version: String)] {
        [("libvips", Vips.version)]
            + CodecLibrary.installed.map { (name: $0.name, version: $0.version) }
    }
}

struct FormatSupport: Equatable {
    let format: ImageFormat
    let reads: Bool
    let writes: Bool
    /// Whether all frames of an animation are read.
    let readsAnimations: Bool
    /// Whether all frames of an animation are written, as found by encoding one.
    let writesAnimations: Bool

    /// In the order of `ImageFormat`; starts libvips and encodes small images.
    static func all() -> [FormatSupport] {
        let readable = Set(ImageFormat.readable)
        let writable = Set(ImageFormat.writable)
        let playable = Set(ImageFormat.playable)
        return ImageFormat.allCases.filter { $0 != .unknown }.map { format in
            FormatSupport(
                format: format, reads: readable.contains(format), writes: writable.contains(format),
                readsAnimations: playable.contains(format),
                writesAnimations: writable.contains(format) && keepsFrames(format))
        }
    }

    private static func keepsFrames(_ format: ImageFormat) -> Bool {
        let size = PixelSize(width: 64, height: 64)
        let frames = [UInt8(0), 255].compactMap { grey in
            Bitmap(
                pixels: Data(repeating: grey, count: size.pixelCount * 3), size: size, channels: 3)
        }
        let timing = AnimationTiming(durations: [0.1, 0.1], loopCount: 0)
        // A format that cannot be written or read back keeps no frames.
        guard let animation = Image(frames: frames, timing: timing),
            let data = animation.kf.data(format: format), let image = try? Image.decoding(data)
        else { return false }
        return image.frameCount == frames.count
    }

    var json: JSONObject {
        JSONObject([
            "format": format.rawValue, "read": reads, "write": writes,
            "readAnimated": readsAnimations, "writeAnimated": writesAnimations,
        ])
    }

    var row: [String] {
        [format.rawValue]
            + [reads, writes, readsAnimations, writesAnimations].map { $0 ? "yes" : "–" }
    }
}
