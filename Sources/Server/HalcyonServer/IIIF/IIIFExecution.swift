import Foundation
import HalcyonPixels
import HalcyonServerURLs
import HalcyonWork

/// Makes a picture as the IIIF Image API says: region, size, mirror, rotation, quality, format.
struct IIIFExecution: PictureWork {
    let parameters: IIIFParameters
    let geometry: IIIFGeometry
    let options: ProcessingOptions
    let rules: PictureRules

    func run(
        _ data: Data, by deadline: ContinuousClock.Instant?,
        isWanted: @escaping @Sendable () -> Bool
    ) throws(Failure) -> PlanExecution.Product {
        let start = rules.time.now
        return try Failure.ofPicture {
            let source = try PlanExecution.Source(data, options: options, rules: rules)
            try PlanExecution.check(isWanted)
            let image = steps(on: try source.start(frames: 1, limits: rules.decodingLimits))
            _ = try image.bitmap()
            let decoded = rules.time.now
            try PlanExecution.check(isWanted)
            let format = parameters.format.possible(for: image)
            var encoding = rules.encoding(of: format)
            encoding.metadata = try options.metadata(of: data)
            // Of that quality, viewers expect colours.
            encoding.storesGrey = parameters.quality != .color
            let encoded = try rules.encoded(image, as: format, encoding, by: deadline)
            try rules.check(resultBytes: encoded.count)
            return PlanExecution.Product(
                data: encoded, format: format.imageFormat, sourceFormat: source.format,
                sourceSize: source.image.pixelSize, size: image.pixelSize, frameCount: 1,
                decoding: decoded - start, encoding: rules.time.now - decoded,
                isTruncated: source.isTruncated)
        }
    }

    var mayUseThreadsOfEncoder: Bool { parameters.format == .avif }
    var kind: String { parameters.format.rawValue }

    private func steps(on image: Image) -> Image {
        var image = image.cut(to: geometry.region, at: geometry.origin)
        let size = PixelSize(geometry.size)
        if size != image.pixelSize { image = image.resized(to: size) }
        let rotation = parameters.rotation
        if rotation.isMirrored { image = image.flipped(horizontally: true, vertically: false) }
        // Corners are transparent where the format can, otherwise white.
        let ground: Color = parameters.format.holdsAlpha ? .clear : .white
        image = image.rotated(degrees: CGFloat(rotation.degrees), background: ground)
        switch parameters.quality {
        case .default, .color: return image
        case .gray: return image.greyed()
        case .bitonal: return image.bitonal(threshold: 128.0 / 255)
        }
    }
}
