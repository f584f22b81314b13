import Foundation

/// JPEG files of which the end is missing.
enum TruncatedJPEG {
    /// The file with the marker that ends it: decoders then take what is missing as grey. `nil` for a file that
    /// has one, and for what has no picture to be ended.
    static func completed(_ data: Data) -> Data? {
        guard data.starts(with: [0xFF, 0xD8]), let scan = scan(in: data),
            data[scan...].firstRange(of: Data([0xFF, 0xD9])) == nil
        else { return nil }
        // Half of a marker.
        let end = data.last == 0xFF ? data.dropLast() : data
        return end + Data([0xFF, 0xD9])
    }

    /// Where the data of the first scan begins. Segments before it may hold pictures of their own.
    private static func scan(in data: Data) -> Data.Index? {
        var place = data.startIndex + 2
        while place + 4 <= data.endIndex, data[place] == 0xFF {
            let marker = data[place + 1]
            // Any number of them may stand before a marker.
            if marker == 0xFF {
                place += 1
                continue
            }
            let length = Int(data[place + 2]) << 8 | Int(data[place + 3])
            place += 2 + length
            if marker == 0xDA { return place < data.endIndex ? place : nil }
        }
        return nil
    }
}
