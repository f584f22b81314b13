import CTestKit
public import CoefficientJPEG

/// A picture's planes.
public struct Planes: Equatable {
    public struct Plane: Equatable {
        public var width: Int
        public var height: Int
        public var samples: [UInt8]
    }

    public var planes: [Plane]

    /// The planes that `ReducedJPEG` decodes from a file.
    public init(
        decoding bytes: [UInt8], reducedTo reduction: JPEGReduction, enlargesChroma: Bool = true
    ) throws {
        planes = try bytes.withUnsafeBytes { bytes in
            let jpeg = try ReducedJPEG(bytes, reducedTo: reduction, enlargesChroma: enlargesChroma)
            var planes = jpeg.planes.map {
                Plane(width: $0.width, height: $0.height, samples: [])
            }
            try jpeg.decode { strip in
                for index in planes.indices {
                    strip.forEachRow(ofPlane: index) { planes[index].samples += $1 }
                }
            }
            return planes
        }
    }

    init(_ picture: cjpegref_picture) {
        let all = [picture.planes.0, picture.planes.1, picture.planes.2]
        planes = all.prefix(Int(picture.plane_count)).map { plane in
            Plane(
                width: plane.width, height: plane.height,
                samples: Array(
                    UnsafeBufferPointer(
                        start: plane.samples, count: plane.height * plane.bytes_per_row)))
        }
    }
}

/// The result of decoding a file with libjpeg.
public struct ReferencePicture {
    /// The planes; `nil` if the file was not decoded to the end.
    public let planes: Planes?
    /// Whether the file was decoded to the end without error or warning.
    public let isClean: Bool
    /// The last error or warning.
    public let message: String

    /// The limit, in blocks, for decoding a picture: about 40 megapixels of 4:2:0.
    private static let blockLimit = 4_000_000

    public init(decoding bytes: [UInt8], denominator: Int) {
        var picture = cjpegref_picture()
        cjpegref_decode(
            bytes, bytes.count, Int32(denominator), ReferencePicture.blockLimit, &picture)
        defer { cjpegref_free_picture(&picture) }
        isClean = picture.is_complete && picture.warning_count == 0
        planes = picture.is_complete ? Planes(picture) : nil
        message = withUnsafeBytes(of: picture.message) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
