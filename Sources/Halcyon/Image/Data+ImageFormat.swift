public import Foundation

extension Data: KingfisherCompatibleValue {}

extension KingfisherWrapper where Base == Data {
    /// The format of an image file's bytes; `.unknown` for eight bytes or fewer.
    public var imageFormat: ImageFormat { ImageSniffer.format(of: base) }

    /// Whether the bytes are a JPEG file in which the two bytes of `marker` stand next to each other
    /// anywhere.
    public func contains(jpeg marker: ImageFormat.JPEGMarker) -> Bool {
        guard imageFormat == .JPEG else { return false }
        return base.firstRange(of: Data(marker.bytes)) != nil
    }
}
