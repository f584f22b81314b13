import Foundation
import HalcyonPixels
import HalcyonServerURLs

/// Hands a source on as it is, as long as it is a picture.
struct RawExecution: PictureWork {
    let options: ProcessingOptions
    let rules: PictureRules

    var kind: String { "raw" }

    func run(
        _ data: Data, by deadline: ContinuousClock.Instant?,
        isWanted: @escaping @Sendable () -> Bool
    ) throws(Failure) -> PlanExecution.Product {
        let format = ImageSniffer.format(of: data)
        guard format != .unknown, format != .PDF, format != .SVG || rules.svg != .refuse else {
            throw Failure(.sourceFormat, "The source is not a picture")
        }
        try rules.check(sourceBytes: data.count, options)
        var data = data
        if format == .SVG {
            // A compressed one would need a field that tells.
            do { data = try CompressedDrawing.inflated(data) } catch {
                throw Failure(.sourceFormat, "The drawing's compressed text cannot be read")
            }
        }
        try rules.check(resultBytes: data.count)
        let size = PixelSize(width: 0, height: 0)
        return PlanExecution.Product(
            data: data, format: format, sourceFormat: format, sourceSize: size, size: size)
    }
}
