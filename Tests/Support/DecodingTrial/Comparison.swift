import Foundation
import Halcyon
import HalcyonPixels
import HalcyonWork
import Vips

/// A file that is decoded in the process and by workers, in all ways.
struct Comparison {
    private let name: String
    private let data: Data

    init(of name: String) {
        self.name = name
        // One that cannot be read is empty, and equal in both.
        data =
            (try? TrialPicture(name)?.data ?? Data(contentsOf: URL(fileURLWithPath: name)))
            ?? Data()
    }

    func tell() {
        let here = ways(.none)
        let there = ways(.foreign)
        let differing = here.keys.filter { here[$0] != there[$0] }.sorted()
        let errors = here.filter { $0.value.hasPrefix("error") }.keys.sorted()
        Output.shared.tell([
            "name": name, "outcome": differing.isEmpty ? "equal" : "differs",
            "ways": here.count, "failed": errors.joined(separator: " "),
            "differing": differing.map { "\($0): \(here[$0] ?? "") / \(there[$0] ?? "")" }
                .joined(separator: "; "),
            "started": DecodingWorker.statistics.started,
        ])
    }

    private func ways(_ isolation: DecodingIsolation) -> [String: String] {
        DecodingIsolation.current = isolation
        defer { Vips.endJob() }
        var result: [String: String] = [:]
        func way(_ name: String, _ body: () throws -> String) {
            do {
                result[name] = try body()
            } catch {
                result[name] = "error: \(error)"
            }
        }
        var options = ImageCreatingOptions()
        options.limits.allowsPDF = true
        // What is compared is not how fast the machine is.
        options.limits.maximumDuration = .seconds(600)
        func image() throws -> Image { try Image.decoding(data, options: options) }

        way("full") { try Self.digest(image().bitmap()) }
        way("at once") { try Self.digest(Image.rendering(data, options: options).bitmap()) }
        for part in [0.5, 0.21, 0.03] {
            way("reduced to \(part)") {
                let image = try image()
                let size = PixelSize(
                    width: max(1, Int(Double(image.pixelSize.width) * part)),
                    height: max(1, Int(Double(image.pixelSize.height) * part)))
                return try Self.digest(image.kf.resize(to: size.points).bitmap())
            }
        }
        for factor in [1, 4] {
            way("an area at 1/\(factor)") {
                let image = try image()
                let size = image.pixelSize.reduced(by: factor)
                let (left, top) = (size.width / 3, size.height / 2)
                let area = PixelArea(
                    left: left, top: top,
                    size: PixelSize(width: size.width - left, height: size.height - top))
                return try Self.digest(image.bitmap(of: area, reducedBy: factor))
            }
        }
        way("all frames") {
            try image().allBitmaps().map { try Self.digest($0) }.joined(separator: ",")
        }
        way("frames out of order") {
            let image = try image()
            let last = image.frameCount - 1
            return try [last, 0, last / 2, last, last / 3, 0].map {
                try Self.digest(image.bitmap(frame: $0))
            }
            .joined(separator: ",")
        }
        way("timing") { try "\(image().animation?.durations ?? []) \(image().hasAlpha)" }
        way("still") {
            options.onlyFirstFrame = true
            defer { options.onlyFirstFrame = false }
            return try Self.digest(image().bitmap())
        }
        way("information") { try "\(ImageInformation(of: data))" }
        way("header") {
            StoredHeader(of: data).map { header in
                "\(header.colorSpace) \(header.bands) \(header.sampleFormat) \(header.hasAlpha) "
                    + "\(header.exif.sorted { $0.key < $1.key })"
            } ?? "none"
        }
        return result
    }

    private static func digest(_ bitmap: Bitmap) throws -> String {
        let hash = bitmap.withUnsafeBytes { Digest.sha256.hexadecimal($0) }
        return "\(bitmap.size.width)x\(bitmap.size.height)x\(bitmap.bytesPerPixel) \(hash)"
    }
}

extension PixelSize {
    fileprivate var points: CGSize { CGSize(width: width, height: height) }
}
