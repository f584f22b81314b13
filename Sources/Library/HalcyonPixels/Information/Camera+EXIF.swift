import DirectCodecs

extension ImageInformation.Camera {
    /// `nil` when a block of EXIF data says nothing of what is told here.
    init?(exif block: UnsafeRawBufferPointer) {
        guard let fields = EXIFFields(block) else { return nil }
        maker = fields.maker
        model = fields.model
        lens = fields.lens
        software = fields.software
        taken = fields.taken.flatMap(Self.time).map { time in
            time + (fields.takenOffset.flatMap(Self.offset) ?? "")
        }
        exposureTime = fields.exposureTime
        aperture = fields.aperture
        sensitivity = fields.sensitivity
        focalLength = fields.focalLength
        if self == ImageInformation.Camera() { return nil }
    }

    /// `2024:05:01 18:30:00` as ISO 8601 writes it; `nil` for anything else, such as a clock that was not
    /// set.
    private static func time(_ text: String) -> String? {
        guard text.matches("0000:00:00 00:00:00"), !text.hasPrefix("0000") else { return nil }
        return text.prefix(10).replacing(":", with: "-") + "T" + text.suffix(8)
    }

    /// `+02:00`; `nil` for anything else, such as spaces for what is not known.
    private static func offset(_ text: String) -> String? {
        text.matches("+00:00") || text.matches("-00:00") ? text : nil
    }
}

extension String {
    /// Whether the text has a digit wherever the pattern has a zero, and elsewhere the same.
    fileprivate func matches(_ pattern: String) -> Bool {
        utf8.count == pattern.utf8.count
            && zip(utf8, pattern.utf8).allSatisfy { byte, expected in
                expected == UInt8(ascii: "0")
                    ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) : byte == expected
            }
    }
}
