import Foundation
import Halcyon
import HalcyonPixels
import HalcyonServerPlans
import HalcyonWork

/// What is told of a source, as JSON. Read from the header; pixels are not decoded.
struct InfoDocument: Encodable, Sendable {
    /// Bytes.
    private var size: Int?
    private var format: String?
    private var mimeType: String?
    /// As shown, after EXIF.
    private var width: Int?
    private var height: Int?
    private var pages: Int?
    private var frames: Int?
    /// Milliseconds that each frame is shown.
    private var delays: [Int]?
    /// How often the animation runs; 0 for ever.
    private var loop: Int?
    /// Milliseconds of one run.
    private var duration: Int?
    private var sha256: String?

    init(_ data: Data, fields: Set<InfoFields.Field>, rules: PictureRules) throws(Failure) {
        let image: Image
        do {
            var limits = rules.decodingLimits
            limits.maximumPixelCount = nil
            image = try Image.decoding(data, options: ImageCreatingOptions(limits: limits))
        } catch let error as ImageCodingError {
            throw Failure(error)
        } catch {
            throw Failure(.sourceDamaged, "The source cannot be read", cause: "\(error)")
        }
        if fields.contains(.size) { size = data.count }
        if fields.contains(.format) {
            let found = OutputFormat(ImageSniffer.format(of: data))
            format = found?.rawValue
            mimeType = found?.mediaType
        }
        if fields.contains(.dimensions) {
            width = image.pixelSize.width
            height = image.pixelSize.height
        }
        if fields.contains(.pagesNumber) { pages = image.frameCount }
        if fields.contains(.animation), let timing = image.animation {
            frames = image.frameCount
            delays = timing.durations.map { Int(($0 * 1000).rounded()) }
            loop = timing.loopCount
            duration = Int((timing.totalDuration * 1000).rounded())
        }
        if fields.contains(.hash) { sha256 = Digest.sha256.hexadecimal(data) }
    }

    /// With its members in alphabetical order.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers can be encoded.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
