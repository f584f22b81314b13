import Foundation

/// The properties of XMP (ISO 16684-1) that tell a position: those whose names begin with GPS, such as
/// `exif:GPSLatitude`, as attributes and as elements.
enum XMPPositions {
    /// What puts spaces in their places, wherever in a file XMP is.
    static func edits(in bytes: UnsafeRawBufferPointer) -> [ByteEdit] {
        var end = 0
        return [":GPS", ":Gps", ":gps"].flatMap { bytes.places(of: Array($0.utf8)) }.sorted()
            .compactMap { place in
                guard place >= end, let range = XMPProperty.range(at: place, in: bytes) else {
                    return nil
                }
                end = range.upperBound
                return ByteEdit(range, filling: UInt8(ascii: " "))
            }
    }
}
