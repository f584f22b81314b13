import DirectCodecs

extension ImageInformation.Camera {
    /// `nil` when a block of EXIF data says nothing of what is told here.
    init?(exif block: UnsafeRawBufferPointer) {
        guard let fields = EXIFFields(block) else { return nil }
        maker = fields.maker
        model = fields.model
        lens = fields.lens
        software = fields.software
        taken = fields.taken.flatMap(Self.time)
        exposureTime = fields.exposureTime
        aperture = fields.aperture
        sensitivity = fields.sensitivity
        focalLength = fields.focalLength
        if self == ImageInformation.Camera() { return nil }
    }

    /// `2024:05:01 18:30:00` as ISO 8601 writes it; `nil` for anything else, such as a clock that was not
    /// set.
    private static func time(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        let isTime =
            bytes.count == 19
            && bytes.enumerated().allSatisfy { index, byte in
                switch index {
                case 4, 7, 13, 16: byte == UInt8(ascii: ":")
                case 10: byte == UInt8(ascii: " ")
                default: (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                }
            }
        guard isTime, !text.hasPrefix("0000") else { return nil }
        return text.prefix(10).replacing(":", with: "-") + "T" + text.suffix(8)
    }
}
