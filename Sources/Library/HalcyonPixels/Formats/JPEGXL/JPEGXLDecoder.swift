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

/// Decodes the frames of a JPEG XL file and converts their colours.
struct JPEGXLFrameReader: FileFrameReader {
    private(set) var position = 0

    private let file: JPEGXLFile

    init(_ data: Data) throws {
        let owner = ByteOwner(data)
        file = try ImageFormat.JPEGXL.reporting { try JPEGXLFile(owner.bytes, owner: owner) }
    }

    var header: ImageHeader {
        ImageHeader(
            format: .JPEGXL, size: PixelSize(width: file.width, height: file.height),
            hasAlpha: file.hasAlpha, depth: depth,
            timing: AnimationTiming(stored: file.durations, loopCount: file.loopCount))
    }

    mutating func frame(_ index: Int) throws -> Bitmap {
        let memory = PixelMemory.forPixels(
            count: file.width * file.height * file.channels * file.depth / 8)
        if index > position { file.skip(index - position) }
        position = index + 1
        try ImageFormat.JPEGXL.reporting { try file.next(into: memory.pointer) }
        return try shown(memory, PixelSize(width: file.width, height: file.height))
    }

    /// Grey that is not delivered as RGB is left to libvips.
    var canReduce: Bool {
        switch file.meaning {
        case .described(let colours): colours.hasStepsOfSRGB
        case .profile: file.channels >= 3
        }
    }

    mutating func reduced(to size: PixelSize) throws -> Bitmap {
        let bytesPerPixel = file.channels * file.depth / 8
        let memory = PixelMemory.forPixels(count: size.pixelCount * bytesPerPixel)
        position = 1
        try ImageFormat.JPEGXL.reporting {
            // Memory of such sizes is used again and again, which costs less than the rows that libjxl
            // delivers one by one: it keeps all of them as floating-point numbers for that.
            let full = PixelMemory.forPixels(count: file.width * file.height * bytesPerPixel)
            try file.next(into: full.pointer)
            try file.reduce(
                full.pointer, width: size.width, height: size.height, into: memory.pointer)
        }
        return try shown(memory, size)
    }

    /// Pixels in sRGB.
    private func shown(_ memory: PixelMemory, _ size: PixelSize) throws -> Bitmap {
        switch file.meaning {
        case .described(let colours):
            return Bitmap(size: size, channels: file.channels, depth: depth, storage: memory)
                .convertingNewPixels(from: colours)
        case .profile(let profile):
            return try Bitmap(
                rendering: VipsImage.memory(
                    memory.pointer, count: memory.count, owner: memory, width: size.width,
                    height: size.height, bands: file.channels,
                    format: depth == .eight ? .uchar : .ushort, interpretation: interpretation
                )
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
