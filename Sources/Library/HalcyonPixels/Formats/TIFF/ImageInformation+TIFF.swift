import DirectCodecs
import Foundation

extension ImageInformation {
    /// Reads the first directory, which may stand anywhere in the file.
    static func ofTIFF(_ file: FilePart) -> ImageInformation? {
        guard let header = TIFFHeader(file.bytes), let stored = header.size else { return nil }
        guard header.isComplete || file.isWhole else { return nil }
        var information = ImageInformation(.TIFF, size: stored.turned(by: header.orientation))
        information.orientation = header.orientation
        information.frameCount = 1
        information.bitsPerSample = header.depth
        information.hasAlpha = header.hasAlpha
        information.camera = Camera(exif: file.bytes)
        information.hasGainMap = false
        information.isComplete = header.isComplete
        if let place = EXIFFields.value(of: 34675, in: file.bytes) {
            let profile = UnsafeRawBufferPointer(rebasing: file.bytes[place])
            information.colorProfile = .icc(name: ProfileName.of(ByteReader(profile), from: 0))
        }
        return information
    }
}
