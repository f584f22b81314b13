import DirectCodecs
import Foundation

/// A JPEG file that had no mark at its end: before its pixels are shown, it is found out whether all are there.
struct UnendedJPEG: OpenedImage {
    private let data: Data
    private let opened: any OpenedImage

    /// - Parameters:
    ///   - data: With the mark.
    ///   - opened: What it was opened as.
    init(_ data: Data, _ opened: any OpenedImage) {
        self.data = data
        self.opened = opened
    }

    var header: ImageHeader { opened.header }
    var orientation: Int { opened.orientation }

    func isLeftToVips(_ size: DecodedSize) -> Bool { opened.isLeftToVips(size) }

    func decode(frame: Int, _ size: DecodedSize) throws -> DecodedPixels? {
        guard JPEGEnding.hasAllPixels(data) else {
            throw ImageCodingError.corrupt(.JPEG, reason: "Premature end of JPEG file")
        }
        return try opened.decode(frame: frame, size)
    }
}
