import Foundation

/// The times of the frames in a GIF file that was just written.
///
/// cgif, with which libvips writes GIF, drops a frame that looks like the one before it and adds their times, so that
/// an animation comes back with fewer frames. It does so only where the sum fits into the 16 bits of a time: frames
/// are written with the longest one, and get their own afterwards.
enum GIFDelays {
    /// In milliseconds.
    static let longest = 655_350

    /// The file with the times of its frames, in milliseconds. A file of another number of frames comes back as it is.
    static func setting(_ milliseconds: [Int], in file: Data) -> Data {
        var output = [UInt8](file)
        let places = places(in: output)
        guard places.count == milliseconds.count else { return file }
        for (place, duration) in zip(places, milliseconds) {
            let delay = (min(max(0, duration), longest) + 5) / 10
            output[place] = UInt8(delay & 0xFF)
            output[place + 1] = UInt8(delay >> 8)
        }
        return Data(output)
    }

    /// Where the time of each frame is, in its graphic control extension (GIF89a, 23).
    private static func places(in bytes: [UInt8]) -> [Int] {
        func endOfTable(_ flags: Int, _ start: Int) -> Int {
            guard flags < bytes.count, bytes[flags] & 0x80 != 0 else { return start }
            return start + (3 << (Int(bytes[flags] & 7) + 1))
        }
        func endOfSubBlocks(_ start: Int) -> Int {
            var offset = start
            while offset < bytes.count, bytes[offset] > 0 { offset += 1 + Int(bytes[offset]) }
            return offset + 1
        }
        var places: [Int] = []
        var offset = endOfTable(10, 13)
        while offset + 10 < bytes.count {
            switch bytes[offset] {
            case 0x21:
                if bytes[offset + 1] == 0xF9 { places.append(offset + 4) }
                offset = endOfSubBlocks(offset + 2)
            case 0x2C:
                offset = endOfSubBlocks(endOfTable(offset + 9, offset + 10) + 1)
            default:
                return []
            }
        }
        return places
    }
}
