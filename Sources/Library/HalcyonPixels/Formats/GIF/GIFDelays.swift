import DirectCodecs
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
    private static func places(in file: [UInt8]) -> [Int] {
        file.withUnsafeBytes { bytes in
            var places: [Int] = []
            var blocks = GIFBlocks(bytes)
            while let block = blocks?.next() {
                switch block {
                case .control(let control):
                    if control.length == 4 { places.append(control.offset + 2) }
                case .image, .other: break
                case .trailer: return places
                case .padding, .unknown: return []
                }
            }
            return places
        }
    }
}
