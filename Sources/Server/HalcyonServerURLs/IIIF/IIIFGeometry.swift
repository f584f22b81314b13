import Foundation

/// The geometry of a IIIF Image API request for a picture of a certain size.
package struct IIIFGeometry: Sendable, Hashable {
    /// The part of the picture that is used.
    package let region: Dimensions
    /// The top left corner of that part.
    package let origin: Position
    package let size: Dimensions
    /// The size of the result: after the rotation.
    package let result: Dimensions
    /// The parameters in canonical form, unique for each result: for the link to the canonical URI
    /// and for the key of the cached result.
    package let canonicalText: String

    /// - Parameters:
    ///   - picture: After EXIF, at least 1×1.
    ///   - isGray: Whether the picture has no colours, so that `color` and `default` differ.
    /// - Throws: `iiif_region` outside of the picture, `iiif_size` beyond the limits.
    package init(
        _ parameters: IIIFParameters, picture: Dimensions, limits: IIIFLimits, isGray: Bool = false
    ) throws(PlanError) {
        let used = try Self.region(parameters.region, of: picture)
        region = used.size
        origin = used.origin
        size = try Self.size(
            parameters.size, of: used.size, enlarging: parameters.allowsEnlarging, limits: limits)
        result = Self.result(of: size, rotation: parameters.rotation)
        let isWhole = used.size == picture
        let regionText =
            isWhole
            ? "full"
            : "\(origin.x),\(origin.y),\(region.width),\(region.height)"
        let sizeText =
            if size == limits.largest(of: region, enlarging: false) {
                "max"
            } else if size.width <= region.width, size.height <= region.height {
                "\(size.width),\(size.height)"
            } else if size == limits.largest(of: region, enlarging: true) {
                "^max"
            } else {
                "^\(size.width),\(size.height)"
            }
        let mirror = parameters.rotation.isMirrored ? "!" : ""
        let degrees = Self.text(parameters.rotation.degrees)
        let quality = parameters.quality == .color && !isGray ? .default : parameters.quality
        let format = IIIFParameters.name(of: parameters.format)
        canonicalText =
            "\(regionText)/\(sizeText)/\(mirror)\(degrees)/\(quality.rawValue).\(format)"
    }

    private static func region(
        _ region: IIIFParameters.Region, of picture: Dimensions
    ) throws(PlanError) -> Region {
        let outside = PlanError(.iiifRegion, "The region is outside of the picture.")
        switch region {
        case .full: return Region(x: 0, y: 0, width: picture.width, height: picture.height)
        case .square:
            let side = min(picture.width, picture.height)
            return Region(
                x: (picture.width - side) / 2, y: (picture.height - side) / 2, width: side,
                height: side)
        case .pixels(let x, let y, let width, let height):
            guard x < picture.width, y < picture.height else { throw outside }
            return Region(
                x: x, y: y, width: min(width, picture.width - x),
                height: min(height, picture.height - y))
        case .percent(let x, let y, let width, let height):
            guard x < 100, y < 100 else { throw outside }
            let (left, right) = ends(x, width, of: picture.width)
            let (top, bottom) = ends(y, height, of: picture.height)
            return Region(x: left, y: top, width: right - left, height: bottom - top)
        }
    }

    /// The first pixel and the end of a part given in per cent; at least one pixel.
    private static func ends(_ start: Double, _ length: Double, of side: Int) -> (Int, Int) {
        let first = min(Int(pixels: (Double(side) * start / 100).rounded(.down)), side - 1)
        let end = Int(pixels: Double(side) * min(start + length, 100) / 100)
        return (first, min(max(end, first + 1), side))
    }

    private static func size(
        _ wish: IIIFParameters.Size, of region: Dimensions, enlarging: Bool, limits: IIIFLimits
    ) throws(PlanError) -> Dimensions {
        let larger = PlanError(
            .iiifSize, "The size is larger than the region; write ^ before it to enlarge.")
        var size: Dimensions
        switch wish {
        case .max: return limits.largest(of: region, enlarging: enlarging)
        case .width(let width):
            size = region.scaled(by: Double(width) / Double(region.width))
            size.width = width
        case .height(let height):
            size = region.scaled(by: Double(height) / Double(region.height))
            size.height = height
        case .percent(let percent): size = region.scaled(by: percent / 100)
        case .exactly(let exact): size = exact
        case .within(let box):
            let isLarger = box.width > region.width && box.height > region.height
            guard enlarging || !isLarger || !limits.isStrictlyConfined else { throw larger }
            let factor = min(
                Double(box.width) / Double(region.width),
                Double(box.height) / Double(region.height))
            size = region.scaled(by: enlarging ? factor : min(factor, 1))
        }
        guard enlarging || (size.width <= region.width && size.height <= region.height) else {
            throw larger
        }
        guard limits.allow(size) else {
            throw PlanError(.iiifSize, "The size is larger than what this server allows.")
        }
        return size
    }

    /// The bounding box of the turned picture.
    private static func result(
        of size: Dimensions, rotation: IIIFParameters.Rotation
    ) -> Dimensions {
        if let quarters = rotation.quarters {
            return quarters.isMultiple(of: 2) ? size : size.transposed
        }
        let angle = rotation.degrees * .pi / 180
        let (sine, cosine) = (abs(sin(angle)), abs(cos(angle)))
        let (width, height) = (Double(size.width), Double(size.height))
        return Dimensions(
            width: Int(pixels: (width * cosine + height * sine).rounded(.up)),
            height: Int(pixels: (width * sine + height * cosine).rounded(.up)))
    }

    /// The number without exponent and trailing zeros.
    private static func text(_ degrees: Double) -> String {
        if degrees == degrees.rounded() { return "\(Int(degrees))" }
        let parts = "\(degrees)".split(separator: "e")
        guard parts.count == 2, let exponent = Int(parts[1]) else { return "\(degrees)" }
        // Only small numbers are written with an exponent.
        let digits = parts[0].filter { $0 != "." }
        let zeros = max(0, -exponent - 1)
        return "0." + String(repeating: "0", count: zeros) + digits
    }
}
