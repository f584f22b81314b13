import CoefficientJPEG

/// Reduces files with the decoder that steps over the coefficients of what is too fine to be seen:
/// a quarter faster at 1/2, and two thirds at 1/8, than libjpeg-turbo, which is bound by decoding all of
/// them.
enum CoefficientPlanes {
    /// Reads the file at `width` × `height`, from planes at one over `denominator`.
    ///
    /// - Returns: Whether it did. If not, the pixels mean nothing, and another decoder reads the file or
    ///   says what is wrong with it.
    static func read(
        _ file: UnsafeRawBufferPointer, width: Int, height: Int, denominator: Int,
        into pixels: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        guard let reduction = JPEGReduction(rawValue: denominator) else { return false }
        do {
            let picture = try ReducedJPEG(file, reducedTo: reduction)
            try PlaneReduction(picture.planes.map(JPEGPlane.init), width: width, height: height)
                .run(picture, into: pixels)
            return true
        } catch {
            // Only a refusal: it is answered by reading the file in another way.
            return false
        }
    }
}

extension JPEGPlane {
    fileprivate init(_ size: PlaneSize) {
        self.init(
            width: size.width, height: size.height, extentX: size.extentX, extentY: size.extentY,
            rowCapacity: size.width, stripHeight: size.rowsPerStrip)
    }
}
