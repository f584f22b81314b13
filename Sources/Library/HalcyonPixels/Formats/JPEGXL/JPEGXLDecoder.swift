import DirectCodecs
import Foundation
import Vips

extension ImageDecoder {
    /// Reads JPEG XL files with libjxl, pictures and animations.
    static let jpegXL = ImageDecoder {
        $0 == .JPEGXL && JPEGXLFile.isAvailable
    } open: { data, _, _ in
        try OpenedFrames<JPEGXLFrameReader>(data)
    }
}

struct JPEGXLFrameReader: FileFrameReader {
    private(set) var position = 0

    private let file: JPEGXLFile

    init(_ data: Data) throws {
        let owner = ByteOwner(data)
        file = try ImageFormat.JPEGXL.reporting { try JPEGXLFile(owner.bytes, owner: owner) }
    }

    private var size: PixelSize { PixelSize(width: file.width, height: file.height) }

    var header: ImageHeader {
        ImageHeader(
            format: .JPEGXL, size: size,
            hasAlpha: file.hasAlpha, depth: depth,
            timing: AnimationTiming(stored: file.durations, loopCount: file.loopCount))
    }

    mutating func frame(_ index: Int) throws -> Bitmap {
        if index > position { file.skip(index - position) }
        position = index + 1
        return try shown(size) { pixels throws(CodecRefusal) in try file.next(into: pixels) }
    }

    /// Grey that is not delivered as RGB is left to libvips.
    var canReduce: Bool {
        switch file.meaning {
        case .described(let colours): colours.hasStepsOfSRGB
        case .profile: file.channels >= 3
        }
    }

    mutating func reduced(to size: PixelSize) throws -> Bitmap {
        position = 1
        return try shown(size) { pixels throws(CodecRefusal) in
            // Memory of such sizes is used again and again, which costs less than the rows that libjxl
            // delivers one by one: it keeps all of them as floating-point numbers for that.
            let full = PixelMemory.forPixels(
                count: file.width * file.height * file.channels * file.depth / 8)
            try file.next(into: full.pointer)
            try file.reduce(full.pointer, width: size.width, height: size.height, into: pixels)
        }
    }

    /// The pixels that `read` writes, in sRGB.
    private func shown(
        _ size: PixelSize, _ read: (UnsafeMutablePointer<UInt8>) throws(CodecRefusal) -> Void
    ) throws -> Bitmap {
        let stored = try ImageFormat.JPEGXL.reporting {
            try Bitmap(size: size, channels: file.channels, depth: depth) {
                _, pixels throws(CodecRefusal) in
                try read(pixels)
            }
        }
        switch file.meaning {
        case .described(let colours):
            return stored.convertingNewPixels(from: colours)
        case .profile(let profile):
            return try Bitmap(
                rendering: stored.vipsImage(interpretation)
                    .settingMetadata([("icc-profile-data", .blob(Data(profile)))])
                    .decodedToSRGB(alpha: file.hasAlpha))
        }
    }

    private var depth: Bitmap.Depth { file.depth == 16 ? .sixteen : .eight }

    private var interpretation: VipsInterpretation {
        if file.channels < 3 { return depth == .eight ? .bw : .grey16 }
        return depth == .eight ? .srgb : .rgb16
    }
}
