import DirectCodecs
package import Foundation
import HalcyonWork
import Vips

/// A rectangle of pixels.
package struct PixelArea: Hashable, Sendable {
    package var left: Int
    package var top: Int
    package var size: PixelSize

    package init(left: Int, top: Int, size: PixelSize) {
        (self.left, self.top, self.size) = (left, top, size)
    }
}

extension PixelSize {
    /// The size of a picture of which one pixel in `factor` is left in each direction, rounded up.
    package func reduced(by factor: Int) -> PixelSize {
        PixelSize(width: (width + factor - 1) / factor, height: (height + factor - 1) / factor)
    }
}

extension Image {
    /// Reads the header of a file on the decoding pool.
    /// - Throws: `ImageCodingError`.
    package static func opening(
        _ data: Data, options: ImageCreatingOptions
    ) async throws -> Image {
        try await DecodingPool.shared.run { try decoding(data, options: options) }
    }

    /// Whether areas are read off the file, row by row, without the whole picture in memory.
    package var isReadByAreas: Bool {
        guard content.isAsDecoded, !isRendered,
            case .encoded(let file) = content.currentRecipe.start
        else { return false }
        return file.deliversRows
    }

    /// This image resampled to `size`, with its pixels in memory; made on the decoding pool. Its size in points
    /// stays. Stops when the task is cancelled.
    package func reduced(to size: PixelSize) async throws -> Image {
        let bitmap = try await decodingUntilCancelled { try self.resized(to: size).bitmap() }
        return Image(bitmap: bitmap, scale: scale * CGFloat(size.width) / CGFloat(pixelSize.width))
    }

    /// The squares of `side` pixels that an area consists of, row by row; decoded together on the decoding pool.
    /// Those at its right and lower edges may be smaller. Stops when the task is cancelled.
    ///
    /// - Parameters:
    ///   - area: In pixels of the image at one over `factor` of its size.
    ///   - factor: A power of two.
    package func tiles(
        of area: PixelArea, reducedBy factor: Int, side: Int
    ) async throws -> [Bitmap] {
        try await decodingUntilCancelled {
            try self.bitmap(of: area, reducedBy: factor).tiles(side: side)
        }
    }

    private func decodingUntilCancelled<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let stop = DecodingStop()
        return try await withTaskCancellationHandler {
            try await DecodingPool.shared.run { try stop.watching(body) }
        } onCancel: {
            stop.give()
        }
    }

    /// The pixels of an area, on the calling thread; see ``tiles(of:reducedBy:side:)``.
    package func bitmap(of area: PixelArea, reducedBy factor: Int) throws -> Bitmap {
        if isReadByAreas, case .encoded(let file) = content.currentRecipe.start {
            return try file.bitmap(of: area, reducedBy: factor)
        }
        let pixels = try bitmap()
        return try Bitmap(
            rendering: pixels.vipsImage().cropped(to: area.enlarged(by: factor, in: pixels.size))
                .averaged(by: factor))
    }
}

extension EncodedImage {
    /// Rows that decoders and pipelines hold at once, as a guess.
    private static let heldRows = 256

    fileprivate var deliversRows: Bool {
        guard header.timing == nil else { return false }
        return switch header.format {
        case .JPEG: JPEGFrame(data).map { !$0.keepsCoefficients } ?? false
        case .PNG: chunks?.isInterlaced == false
        case .TIFF: true
        default: false
        }
    }

    fileprivate func bitmap(of area: PixelArea, reducedBy factor: Int) throws -> Bitmap {
        let held = header.size.longestSide.clampedTimes(Self.heldRows)
            .clampedPlus(area.size.pixelCount.clampedTimes(2)).clampedTimes(header.bytesPerPixel)
        let strips = header.format == .TIFF ? TIFFHeader(data)?.heldBytes ?? 0 : 0
        return try withinLimits(taking: held.clampedPlus(strips)) {
            if let file = opened as? OpenedByWorker {
                return try file.bitmap(of: area, reducedBy: factor)
            }
            return try OpenedByVips(data, header: header).bitmap(of: area, reducedBy: factor)
        }
    }
}

extension OpenedByVips {
    /// Decodes an area of the first frame, in pixels of the picture at one over `factor` of its size. What is above it
    /// is passed over row by row.
    func bitmap(of area: PixelArea, reducedBy factor: Int) throws -> Bitmap {
        let loader = try VipsLoader.of(header.format)
        return try header.format.reporting {
            let level = header.size.reduced(by: factor)
            // Part of the reduction is the codec's, which drops what is left over at the right and at the bottom.
            let part = [8, 4, 2].first { part in
                part <= factor && header.size.width % part == 0 && header.size.height % part == 0
            }
            let stored = try open(
                with: loader, frame: 0, leastSize: part.map(header.size.reduced(by:)))
            let orientation = stored.orientation(in: header.format)
            let size = PixelSize(width: stored.width, height: stored.pageHeight)
            let done = size == header.size.turned(by: orientation) ? 1 : part ?? 1
            let seen = area.stored(orientation, in: level.turned(by: orientation))
                .enlarged(by: factor / done, in: size)
            try stored.passOver(rows: seen.top)
            let pixels = try stored.cropped(to: seen)
                .decodedToSRGB(alpha: header.hasAlpha, from: colours).averaged(by: factor / done)
            guard orientation > 1 else { return try Bitmap(rendering: pixels) }
            return try Bitmap(rendering: pixels.copiedToMemory().orientationApplied())
        }
    }
}

extension PixelArea {
    /// The area in a picture of `size` that becomes this one at one over `factor` of it.
    fileprivate func enlarged(by factor: Int, in size: PixelSize) -> PixelArea {
        PixelArea(
            left: left * factor, top: top * factor,
            size: PixelSize(
                width: min(self.size.width * factor, size.width - left * factor),
                height: min(self.size.height * factor, size.height - top * factor)))
    }

    /// The area of the stored picture, of `size`, that is shown here after it is turned.
    ///
    /// - Parameter orientation: Of EXIF, 1…8.
    fileprivate func stored(_ orientation: Int, in size: PixelSize) -> PixelArea {
        let exchanges = PixelTurning.exchangesSides(orientation)
        var area = PixelArea(
            left: exchanges ? top : left, top: exchanges ? left : top,
            size: self.size.turned(by: orientation))
        if [2, 3, 7, 8].contains(orientation) {
            area.left = size.width - area.left - area.size.width
        }
        if [3, 4, 6, 7].contains(orientation) {
            area.top = size.height - area.top - area.size.height
        }
        return area
    }
}

extension VipsImage {
    fileprivate func cropped(to area: PixelArea) throws(VipsError) -> VipsImage {
        try cropped(
            left: area.left, top: area.top, width: area.size.width, height: area.size.height)
    }

    /// The means of squares of `side` pixels, which meet those of other areas without a seam.
    fileprivate func averaged(by side: Int) throws(VipsError) -> VipsImage {
        guard side > 1 else { return self }
        let means = try premultiplied()
            .apply("shrink", ["hshrink": .int(side), "vshrink": .int(side), "ceil": true])
        return hasAlpha ? try means.unpremultiplied().rounded(to: format) : means
    }
}

extension Bitmap {
    /// Copies of the squares that the bitmap consists of, row by row.
    fileprivate func tiles(side: Int) -> [Bitmap] {
        stride(from: 0, to: size.height, by: side).flatMap { top in
            stride(from: 0, to: size.width, by: side).map { left in
                copy(
                    PixelArea(
                        left: left, top: top,
                        size: PixelSize(
                            width: min(side, size.width - left),
                            height: min(side, size.height - top))))
            }
        }
    }

    private func copy(_ area: PixelArea) -> Bitmap {
        let row = area.size.width * bytesPerPixel
        let memory = PixelMemory.forPixels(count: row * area.size.height)
        withUnsafeBytes { bytes in
            for line in 0..<area.size.height {
                let start = (area.top + line) * bytesPerRow + area.left * bytesPerPixel
                memory.pointer.advanced(by: line * row).copyMemory(
                    from: bytes.baseAddress! + start, byteCount: row)
            }
        }
        return Bitmap(size: area.size, channels: channels, depth: depth, storage: memory)
    }
}
