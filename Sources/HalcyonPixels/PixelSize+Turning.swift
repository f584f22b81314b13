import DirectCodecs

extension PixelSize {
    /// The size as shown of pixels stored in this size, and the other way round.
    ///
    /// - Parameter orientation: Of EXIF, 1…8.
    func turned(by orientation: Int) -> PixelSize {
        PixelTurning.exchangesSides(orientation) ? transposed : self
    }
}
