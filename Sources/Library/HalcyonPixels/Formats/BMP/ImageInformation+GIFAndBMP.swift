import Foundation

extension ImageInformation {
    /// The first frame may enlarge the canvas, so that its descriptor is waited for.
    static func ofGIF(_ file: FilePart) -> ImageInformation? {
        let structure = GIFStructure(file.bytes, isWhole: file.isWhole)
        guard !structure.frames.isEmpty else { return nil }
        var information = ImageInformation(.GIF, size: structure.canvas)
        information.bitsPerSample = 8
        information.hasGainMap = false
        information.isComplete = structure.isComplete
        // What has been seen of opacity stays true.
        if structure.isComplete || structure.hasAlpha { information.hasAlpha = structure.hasAlpha }
        guard structure.isComplete else { return information }
        information.frameCount = structure.frames.count
        information.animation = structure.timing
        return information
    }

    static func ofBMP(_ file: FilePart) throws(ImageCodingError) -> ImageInformation? {
        let header: BMPHeader
        do {
            header = try BMPHeader(
                file.reader, start: 14, isIcon: false, checksLength: file.isWhole)
        } catch {
            // Its header has at most this many bytes, with the masks behind it.
            if !file.isWhole, file.bytes.count < 14 + 124 + 16 { return nil }
            throw error.codingError(.BMP)
        }
        var information = ImageInformation(.BMP, size: header.size)
        information.frameCount = 1
        information.bitsPerSample = 8
        information.hasAlpha = header.hasAlpha
        information.hasGainMap = false
        return information
    }
}
