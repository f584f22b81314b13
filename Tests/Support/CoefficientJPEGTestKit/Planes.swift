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
                    let rows = strip[plane: index]
                    for row in 0..<rows.rowCount { planes[index].samples += rows[row] }
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
