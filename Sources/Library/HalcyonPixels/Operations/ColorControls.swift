package import Foundation
import Vips

extension Image {
    /// The image with other colours: saturation, brightness, contrast and exposure, in this order, on
    /// linear light.
    package func adjusted(
        brightness: CGFloat, contrast: CGFloat, saturation: CGFloat, exposure: CGFloat
    ) -> Image {
        // Bounded so that no value becomes infinite.
        let gain = exp2(Double(min(max(exposure, -64), 64)))
        let (brightness, contrast) = (Double(brightness), Double(contrast))
        let saturation = Double(saturation)
        // The four as one affine change: row by row, the part of R, G and B in each result.
        let matrix = (0..<9).map { index -> Double in
            let (row, column) = (index / 3, index % 3)
            let own = row == column ? saturation : 0
            return gain * contrast * (own + (1 - saturation) * LinearLight.luminance[column])
        }
        let offset = gain * (contrast * (brightness - 0.5) + 0.5)
        return changing { image, _ in
            try image.mappingColor {
                try $0.transformingLinearLight(matrix: matrix, offset: offset)
            }
        }
    }
}

/// A table of new sample values: one entry per value, for all bands or for each of several.
struct LookupTable: Sendable {
    let count: Int
    private let bands: Int
    private let format: VipsBandFormat
    private let memory: PixelMemory

    /// - Parameter samples: In the given format, the bands of an entry together.
    init<Sample: BitwiseCopyable>(_ samples: [Sample], bands: Int = 1, format: VipsBandFormat) {
        count = samples.count / bands
        self.bands = bands
        self.format = format
        memory = PixelMemory(samples: samples)
    }

    /// The table as the `lut` of libvips' `maplut`.
    func vipsImage() throws -> VipsImage {
        try VipsImage.memory(
            memory.pointer, count: memory.count, owner: memory, width: count, height: 1,
            bands: bands, format: format, interpretation: .multiband)
    }
}

extension PixelMemory {
    convenience init<Sample: BitwiseCopyable>(samples: [Sample]) {
        let count = samples.count * MemoryLayout<Sample>.stride
        let pointer = UnsafeMutableRawPointer.allocate(byteCount: max(1, count), alignment: 16)
        samples.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress {
                pointer.copyMemory(from: base, byteCount: count)
            }
        }
        self.init(adopting: pointer, count: count) { $0.deallocate() }
    }
}

extension VipsImage {
    /// A matrix of three rows and columns, whose numbers are in memory.
    static func matrix(_ numbers: PixelMemory) throws(VipsError) -> VipsImage {
        try memory(
            numbers.pointer, count: numbers.count, owner: numbers, width: 3, height: 3, bands: 1,
            format: .double, interpretation: .matrix)
    }

    /// Three colour bands changed by an affine map of linear light, clamped and back in sRGB.
    ///
    /// - Parameters:
    ///   - matrix: Three rows of three factors.
    ///   - offset: Added to all three results.
    func transformingLinearLight(matrix: [Double], offset: Double) throws -> VipsImage {
        let isDeep = format == .ushort
        let tables = isDeep ? LinearLight.deep : LinearLight.plain
        let factors = PixelMemory(samples: matrix.map { $0 * tables.steps })
        // The casts clamp: a negative number becomes 0, an index past the table its last entry.
        var index = try apply("maplut", ["lut": .image(tables.decoding.vipsImage())])
            .apply("recomb", ["m": .image(.matrix(factors))])
            .linear(multiply: [1], add: [offset * tables.steps + 0.5])
            .cast(to: .uint)
        if isDeep {
            index = try index.apply("math2_const", ["math2": "pow", "c": [0.5]])
                .linear(multiply: [65535 / tables.steps.squareRoot()], add: [0.5])
        }
        return try index.cast(to: .ushort)
            .apply("maplut", ["lut": .image(tables.encoding.vipsImage())])
    }
}

/// Tables between sRGB values and linear light (IEC 61966-2-1).
enum LinearLight {
    /// The parts of R, G and B in the luminance, by Rec. 709.
    static let luminance = [0.2126, 0.7152, 0.0722]

    struct Tables: Sendable {
        /// sRGB samples to linear light, 0…1.
        let decoding: LookupTable
        /// The whole number that stands for linear light of 1 before it becomes an index.
        let steps: Double
        /// Indices, of which 65535 is white, to sRGB samples.
        let encoding: LookupTable
    }

    /// For 8 bits. Linear light is the index: its steps are 20 times finer than the darkest samples
    /// need.
    static let plain = Tables(
        decoding: LookupTable((0..<256).map { Float(decode(Double($0) / 255)) }, format: .float),
        steps: 65535,
        encoding: LookupTable(
            (0..<65536).map { UInt8((encode(Double($0) / 65535) * 255).rounded()) },
            format: .uchar))

    /// For 16 bits. The square root of linear light is the index, which divides dark and bright
    /// nearly as sRGB does; libvips' tables have no more entries.
    static let deep = Tables(
        decoding: LookupTable(
            (0..<65536).map { Float(decode(Double($0) / 65535)) }, format: .float),
        steps: 16_777_216,
        encoding: LookupTable(
            (0..<65536).map { index in
                let root = Double(index) / 65535
                return UInt16((encode(root * root) * 65535).rounded())
            }, format: .ushort))

    static func decode(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    static func encode(_ light: Double) -> Double {
        light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }
}
