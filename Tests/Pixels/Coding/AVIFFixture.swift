import CCodecs
import Foundation
import HalcyonTestKit

/// AVIF files with known pixels, written by libavif without any loss.
struct AVIFFixture {
    var depth = 8
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

    struct Failure: Error { let step: String }

    /// A file of one picture, or a sequence of several. With opacity if the first has a pixel that is not
    /// opaque.
    func data(_ grids: PixelGrid...) throws -> Data { try data(grids) }

    /// The same.
    func data(_ grids: [PixelGrid]) throws -> Data {
        let hasAlpha = grids[0].pixels.contains { $0.alpha < 255 }
        var file = try encoded { encoder in
            for grid in grids {
                let image = try picture(grid, hasAlpha: hasAlpha)
                defer { avifImageDestroy(image) }
                // Of those of a sequence libavif 1.2 ends the process.
                if grids.count == 1 { transform(image, grid) }
                let flags = grids.count == 1 ? AVIF_ADD_IMAGE_FLAG_SINGLE : AVIF_ADD_IMAGE_FLAG_NONE
                try check(
                    avifEncoderAddImage(encoder, image, UInt64(delay), flags.rawValue), "adding")
            }
        }
        if grids.count > 1, quarterTurns != nil || mirrorAxis != nil || crop != nil {
            file = try addingTransforms(of: grids[0], to: file)
        }
        return try runs.map { try Self.adding(runs: $0, to: file) } ?? file
    }

    /// What an encoder makes of the pictures that `add` gives to it.
    private func encoded(_ add: (UnsafeMutablePointer<avifEncoder>) throws -> Void) throws -> Data {
        let encoder = avifEncoderCreate()!
        defer { avifEncoderDestroy(encoder) }
        encoder.pointee.speed = 10
        encoder.pointee.timescale = 100
        encoder.pointee.minQuantizer = 0
        encoder.pointee.maxQuantizer = 0
        encoder.pointee.minQuantizerAlpha = 0
        encoder.pointee.maxQuantizerAlpha = 0
        try add(encoder)
        var output = avifRWData()
        defer { avifRWDataFree(&output) }
        try check(avifEncoderFinish(encoder, &output), "finishing")
        return Data(bytes: output.data, count: output.size)
    }

    /// Puts the properties that turn and crop into the description of a sequence's pictures, where they are on
    /// their own (ISO/IEC 23008-12, 7.2).
    private func addingTransforms(of grid: PixelGrid, to file: Data) throws -> Data {
        func box(_ type: String, _ content: [UInt8]) -> Data {
            Data(bigEndian(8 + content.count, 4) + Array(type.utf8) + content)
        }
        var boxes = Data()
        if let clean = cleanAperture(in: grid) {
            boxes += box("clap", clean.flatMap { bigEndian(Int($0), 4) })
        }
        if let quarterTurns { boxes += box("irot", [UInt8(quarterTurns)]) }
        if let mirrorAxis { boxes += box("imir", [UInt8(mirrorAxis)]) }
        return try Self.movingTrack(of: file) { moov in
            let path = ["trak", "mdia", "minf", "stbl", "stsd", "av01"]
            let places = try Self.places(of: path, in: moov)
            let entry = places[places.count - 1]
            moov.insert(contentsOf: boxes, at: entry + Self.number(moov, entry))
            Self.enlarge(&moov, places, by: boxes.count)
        }
    }

    /// Where a box within others starts, and each of those, in a box `moov` at the start of `moov`.
    private static func places(of path: [String], in moov: Data) throws -> [Int] {
        var places = [0]
        for type in path {
            let parent = places[places.count - 1]
            // Behind its version and the number of its entries.
            var start = parent + (type == "av01" ? 16 : 8)
            let end = parent + number(moov, parent)
            while start + 8 <= end, moov[start + 4..<start + 8] != Data(type.utf8) {
                start += number(moov, start)
            }
            guard start + 8 <= end else { throw Failure(step: "finding \(type)") }
            places.append(start)
        }
        return places
    }

    private static func enlarge(_ moov: inout Data, _ places: [Int], by count: Int) {
        for box in places {
            moov.replaceSubrange(box..<box + 4, with: bigEndian(number(moov, box) + count, 4))
        }
    }

    private static func number(_ data: Data, _ place: Int, _ count: Int = 4) -> Int {
        data[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Puts a changed copy of the box `moov` at the end of a file and makes the old one free space, so that nothing
    /// else moves.
    private static func movingTrack(
        of file: Data, changing: (inout Data) throws -> Void
    ) throws -> Data {
        var start = 0
        while start + 8 <= file.count, file[start + 4..<start + 8] != Data("moov".utf8) {
            start += number(file, start)
        }
        guard start < file.count else { throw Failure(step: "finding the track") }
        var moov = Data(file[start..<start + number(file, start)])
        try changing(&moov)
        var result = file
        result.replaceSubrange(start + 4..<start + 8, with: Data("free".utf8))
        return result + moov
    }

    /// Adds an edit list (ISO/IEC 14496-12, 8.6.6) to the first track.
    private static func adding(runs: Int, to file: Data) throws -> Data {
        try movingTrack(of: file) { moov in
            // libavif 1.0 and newer write one for all sequences.
            if let places = try? places(of: ["trak", "edts"], in: moov) {
                let (box, count) = (places[2], number(moov, places[2]))
                moov.removeSubrange(box..<box + count)
                enlarge(&moov, [places[0], places[1]], by: -count)
            }
            let media = try places(of: ["trak", "mdia", "mdhd"], in: moov)[3] + 8
            let places = try places(of: ["trak", "tkhd"], in: moov)
            let box = places[2]
            guard moov[media] == 1, moov[box + 8] == 1 else {
                throw Failure(step: "reading the track")
            }
            let length = number(moov, media + 24, 8)
            moov.replaceSubrange(box + 36..<box + 44, with: bigEndian(length * runs, 8))
            var list = bigEndian(44, 4) + Array("edts".utf8) + bigEndian(36, 4)
            // Version, whether it is repeated, the number of edits, and one of them at the usual speed.
            list += Array("elst".utf8) + [1, 0, 0, runs > 1 ? 1 : 0]
            list += bigEndian(1, 4) + bigEndian(length, 8) + bigEndian(0, 8) + bigEndian(1 << 16, 4)
            moov.insert(contentsOf: list, at: box + number(moov, box))
            enlarge(&moov, [places[0], places[1]], by: list.count)
        }
    }

    /// A file whose one picture is stored as tiles of equal size, at least 64 by 64 pixels each.
    func data(tiles: [[PixelGrid]]) throws -> Data {
        let hasAlpha = tiles.joined().contains { $0.pixels.contains { $0.alpha < 255 } }
        var pictures: [UnsafePointer<avifImage>?] = []
        defer {
            for picture in pictures { avifImageDestroy(UnsafeMutablePointer(mutating: picture)) }
        }
        for tile in tiles.joined() {
            pictures.append(UnsafePointer(try picture(tile, hasAlpha: hasAlpha)))
        }
        return try encoded { encoder in
            let result = avifEncoderAddImageGrid(
                encoder, UInt32(tiles[0].count), UInt32(tiles.count), pictures,
                AVIF_ADD_IMAGE_FLAG_SINGLE.rawValue)
            try check(result, "adding")
        }
    }

    private func picture(
        _ grid: PixelGrid, hasAlpha: Bool
    ) throws -> UnsafeMutablePointer<avifImage> {
        let image = avifImageCreate(UInt32(grid.width), UInt32(grid.height), UInt32(depth), format)!
        image.pointee.yuvRange = range
        image.pointee.colorPrimaries = avifColorPrimaries(primaries)
        image.pointee.transferCharacteristics = avifTransferCharacteristics(transfer)
        image.pointee.matrixCoefficients = avifMatrixCoefficients(matrix)
        try profile?.withUnsafeBytes { bytes in
            let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            try check(cavif_set_profile(image, start, bytes.count), "profiling")
        }
        var rgb = avifRGBImage()
        avifRGBImageSetDefaults(&rgb, image)
        rgb.depth = 8
        rgb.format = hasAlpha ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB
        var bytes = grid.pixels.flatMap { hasAlpha ? $0.rgb + [$0.alpha] : $0.rgb }
        rgb.rowBytes = UInt32(grid.width * (hasAlpha ? 4 : 3))
        try bytes.withUnsafeMutableBufferPointer { buffer in
            rgb.pixels = buffer.baseAddress
            try check(avifImageRGBToYUV(image, &rgb), "converting")
        }
        return image
    }

    /// Has a still picture turned and cropped.
    private func transform(_ image: UnsafeMutablePointer<avifImage>, _ grid: PixelGrid) {
        var flags: UInt32 = 0
        if let quarterTurns {
            flags |= AVIF_TRANSFORM_IROT.rawValue
            image.pointee.irot.angle = UInt8(quarterTurns)
        }
        if let mirrorAxis {
            flags |= AVIF_TRANSFORM_IMIR.rawValue
            cavif_set_mirror_axis(image, Int32(mirrorAxis))
        }
        if let clean = cleanAperture(in: grid) {
            flags |= AVIF_TRANSFORM_CLAP.rawValue
            image.pointee.clap = avifCleanApertureBox(
                widthN: clean[0], widthD: clean[1], heightN: clean[2], heightD: clean[3],
                horizOffN: clean[4], horizOffD: clean[5], vertOffN: clean[6], vertOffD: clean[7])
        }
        image.pointee.transformFlags = flags
    }

    /// The crop as quotients (ISO/IEC 14496-12, 12.1.4): its size, and how far its middle is from that of the
    /// picture.
    private func cleanAperture(in grid: PixelGrid) -> [UInt32]? {
        crop.map { crop in
            let right = 2 * crop.left + crop.width - grid.width
            let down = 2 * crop.top + crop.height - grid.height
            return [
                UInt32(crop.width), 1, UInt32(crop.height), 1,
                UInt32(bitPattern: Int32(right)), 2, UInt32(bitPattern: Int32(down)), 2,
            ]
        }
    }

    private func check(_ result: avifResult, _ step: String) throws {
        guard result == AVIF_RESULT_OK else { throw Failure(step: step) }
    }
}
