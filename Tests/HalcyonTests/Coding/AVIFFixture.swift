import CAVIF
import Foundation
import HalcyonTestKit

/// AVIF files with known pixels, written by libavif without any loss.
struct AVIFFixture {
    var depth = 8
    var isPremultiplied = false
    var quarterTurns: Int?
    /// 0 exchanges top and bottom, 1 left and right.
    var mirrorAxis: Int?
    var crop: (left: Int, top: Int, width: Int, height: Int)?
    /// Code points of ITU-T H.273.
    var primaries = 1
    var transfer = 13
    /// Samples of luminance and chroma; by the identity matrix they are green, blue and red.
    var format = AVIF_PIXEL_FORMAT_YUV444
    var matrix = AVIF_MATRIX_COEFFICIENTS_IDENTITY
    var range = AVIF_RANGE_FULL
    /// An ICC profile.
    var profile: Data?
    /// Hundredths of a second that each picture of a sequence is shown.
    var delay = 10
    /// How often an edit list says that a sequence of opaque pictures runs; without one it runs for ever.
    var runs: Int?

    struct Failure: Error {
        let step: String
    }

    /// A file of one picture, or a sequence of several. With opacity if the first has a pixel that is not
    /// opaque.
    func data(_ grids: PixelGrid...) throws -> Data { try data(grids) }

    /// The same.
    func data(_ grids: [PixelGrid]) throws -> Data {
        let encoder = avifEncoderCreate()!
        defer { avifEncoderDestroy(encoder) }
        encoder.pointee.speed = 10
        encoder.pointee.timescale = 100
        encoder.pointee.minQuantizer = 0
        encoder.pointee.maxQuantizer = 0
        encoder.pointee.minQuantizerAlpha = 0
        encoder.pointee.maxQuantizerAlpha = 0
        let hasAlpha = grids[0].pixels.contains { $0.alpha < 255 }
        for grid in grids {
            let image = try picture(grid, hasAlpha: hasAlpha)
            defer { avifImageDestroy(image) }
            let flags = grids.count == 1 ? AVIF_ADD_IMAGE_FLAG_SINGLE : AVIF_ADD_IMAGE_FLAG_NONE
            try check(
                avifEncoderAddImage(encoder, image, UInt64(delay), flags.rawValue), "adding")
        }
        var output = avifRWData()
        defer { avifRWDataFree(&output) }
        try check(avifEncoderFinish(encoder, &output), "finishing")
        let file = Data(bytes: output.data, count: output.size)
        return try runs.map { try Self.adding(runs: $0, to: file) } ?? file
    }

    /// Puts a copy of the box `moov`, with an edit list (ISO/IEC 14496-12, 8.6.6), at the end of a file and makes
    /// the old one free space, so that nothing else moves.
    private static func adding(runs: Int, to file: Data) throws -> Data {
        func bytes<Number: FixedWidthInteger>(_ number: Number) -> Data {
            withUnsafeBytes(of: number.bigEndian) { Data($0) }
        }
        func number(_ data: Data, _ place: Int, _ count: Int = 4) -> Int {
            data[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
        }
        var start = 0
        while start + 8 <= file.count, file[start + 4..<start + 8] != Data("moov".utf8) {
            start += number(file, start)
        }
        guard start < file.count else { throw Failure(step: "finding the track") }
        var moov = Data(file[start..<start + number(file, start)])
        // The header of the first track is the first box in it.
        guard let header = moov.range(of: Data("tkhd".utf8))?.upperBound, moov[header] == 1 else {
            throw Failure(step: "reading the track")
        }
        let length = number(moov, header + 28, 8)
        moov.replaceSubrange(header + 28..<header + 36, with: bytes(Int64(length * runs)))
        var list = bytes(UInt32(44))
        list += Data("edts".utf8)
        list += bytes(UInt32(36))
        list += Data("elst".utf8)
        // Version, whether it is repeated, the number of edits, and one of them at the usual speed.
        list += Data([1, 0, 0, runs > 1 ? 1 : 0])
        list += bytes(UInt32(1))
        list += bytes(Int64(length))
        list += bytes(Int64(0))
        list += bytes(UInt32(1 << 16))
        moov.insert(contentsOf: list, at: header - 8 + number(moov, header - 8))
        for box in [0, header - 16] {
            moov.replaceSubrange(
                box..<box + 4, with: bytes(UInt32(number(moov, box) + list.count)))
        }
        var result = file
        result.replaceSubrange(start + 4..<start + 8, with: Data("free".utf8))
        return result + moov
    }

    /// A file whose one picture is stored as tiles of equal size, at least 64 by 64 pixels each.
    func data(tiles: [[PixelGrid]]) throws -> Data {
        let encoder = avifEncoderCreate()!
        defer { avifEncoderDestroy(encoder) }
        encoder.pointee.speed = 10
        encoder.pointee.minQuantizer = 0
        encoder.pointee.maxQuantizer = 0
        encoder.pointee.minQuantizerAlpha = 0
        encoder.pointee.maxQuantizerAlpha = 0
        let hasAlpha = tiles.joined().contains { $0.pixels.contains { $0.alpha < 255 } }
        var pictures: [UnsafePointer<avifImage>?] = []
        defer {
            for picture in pictures { avifImageDestroy(UnsafeMutablePointer(mutating: picture)) }
        }
        for tile in tiles.joined() {
            pictures.append(UnsafePointer(try picture(tile, hasAlpha: hasAlpha)))
        }
        try check(
            avifEncoderAddImageGrid(
                encoder, UInt32(tiles[0].count), UInt32(tiles.count), pictures,
                AVIF_ADD_IMAGE_FLAG_SINGLE.rawValue), "adding")
        var output = avifRWData()
        defer { avifRWDataFree(&output) }
        try check(avifEncoderFinish(encoder, &output), "finishing")
        return Data(bytes: output.data, count: output.size)
    }

    private func picture(
        _ grid: PixelGrid, hasAlpha: Bool
    ) throws -> UnsafeMutablePointer<avifImage> {
        let image = avifImageCreate(
            UInt32(grid.width), UInt32(grid.height), UInt32(depth), format)!
        image.pointee.yuvRange = range
        image.pointee.colorPrimaries = avifColorPrimaries(primaries)
        image.pointee.transferCharacteristics = avifTransferCharacteristics(transfer)
        image.pointee.matrixCoefficients = avifMatrixCoefficients(matrix)
        profile?.withUnsafeBytes { bytes in
            avifImageSetProfileICC(
                image, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        }
        image.pointee.alphaPremultiplied = isPremultiplied ? 1 : 0
        var flags: UInt32 = 0
        if let quarterTurns {
            flags |= AVIF_TRANSFORM_IROT.rawValue
            image.pointee.irot.angle = UInt8(quarterTurns)
        }
        if let mirrorAxis {
            flags |= AVIF_TRANSFORM_IMIR.rawValue
            cavif_set_mirror_axis(image, Int32(mirrorAxis))
        }
        if let crop {
            flags |= AVIF_TRANSFORM_CLAP.rawValue
            var rect = avifCropRect(
                x: UInt32(crop.left), y: UInt32(crop.top), width: UInt32(crop.width),
                height: UInt32(crop.height))
            var diagnostics = avifDiagnostics()
            guard
                avifCleanApertureBoxConvertCropRect(
                    &image.pointee.clap, &rect, UInt32(grid.width), UInt32(grid.height),
                    AVIF_PIXEL_FORMAT_YUV444, &diagnostics) != 0
            else { throw Failure(step: "cropping") }
        }
        image.pointee.transformFlags = flags

        var rgb = avifRGBImage()
        avifRGBImageSetDefaults(&rgb, image)
        rgb.depth = 8
        rgb.format = hasAlpha ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB
        let channels = hasAlpha ? 4 : 3
        var bytes = grid.pixels.flatMap {
            [$0.red, $0.green, $0.blue, $0.alpha].prefix(channels)
        }
        rgb.rowBytes = UInt32(grid.width * channels)
        try bytes.withUnsafeMutableBufferPointer { buffer in
            rgb.pixels = buffer.baseAddress
            try check(avifImageRGBToYUV(image, &rgb), "converting")
        }
        return image
    }

    private func check(_ result: avifResult, _ step: String) throws {
        guard result == AVIF_RESULT_OK else { throw Failure(step: step) }
    }
}
