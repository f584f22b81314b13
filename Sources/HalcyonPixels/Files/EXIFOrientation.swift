import Foundation

/// The orientation tag in a block of EXIF data.
enum EXIFOrientation {
    private static let tag = 0x0112
    private static let short = 3

    /// The block with orientation 1 where it has one; other bytes come back as they are.
    static func reset(in exif: Data) -> Data {
        guard let place = exif.withUnsafeBytes({ find(in: ByteReader($0)) }) else { return exif }
        var result = Data(exif)
        result[place.offset] = place.isLittleEndian ? 1 : 0
        result[place.offset + 1] = place.isLittleEndian ? 0 : 1
        return result
    }

    /// Where the two bytes of the value are.
    private static func find(in reader: ByteReader) -> (offset: Int, isLittleEndian: Bool)? {
        // JPEG puts "Exif" and two zeros before the TIFF header, other formats may not.
        let start = reader.bigUInt32(0) == 0x4578_6966 ? 6 : 0
        let isLittleEndian: Bool
        switch reader.bigUInt16(start) {
        case 0x4949: isLittleEndian = true
        case 0x4D4D: isLittleEndian = false
        default: return nil
        }
        func uint16(_ offset: Int) -> Int? {
            isLittleEndian ? reader.littleUInt16(offset) : reader.bigUInt16(offset)
        }
        let directory =
            isLittleEndian ? reader.littleUInt32(start + 4) : reader.bigUInt32(start + 4)
        guard let directory, let count = uint16(start + Int(directory)) else { return nil }
        for index in 0..<count {
            let entry = start + Int(directory) + 2 + 12 * index
            guard let found = uint16(entry) else { return nil }
            if found == tag, uint16(entry + 2) == short, reader.byte(entry + 9) != nil {
                return (entry + 8, isLittleEndian)
            }
        }
        return nil
    }
}
