public import Foundation

/// Decoded pixels in memory: sRGB, straight (not premultiplied) alpha, rows from the top without
/// padding, 3 (RGB) or 4 (RGBA) channels of 8 or 16 bits (16-bit samples in native byte order).
///
/// Copies share the memory; it is never written after creation.
public struct Bitmap: Sendable {
    /// Bits per sample.
    public enum Depth: Int, Sendable {
        case eight = 8
        case sixteen = 16
    }

    /// Width and height.
    public let size: PixelSize
    /// 3 for RGB, 4 for RGBA.
    public let channels: Int
    /// Bits per sample.
    public let depth: Depth

    let storage: PixelMemory
    let offset: Int

    init(size: PixelSize, channels: Int, depth: Depth, storage: PixelMemory, offset: Int = 0) {
        self.size = size
        self.channels = channels
        self.depth = depth
        self.storage = storage
        self.offset = offset
    }

    /// Copies `pixels`, which must hold exactly `width × height × channels` samples of `depth` bits
    /// in the layout described above; `nil` when it does not, or when the layout is none of those.
    public init?(pixels: Data, size: PixelSize, channels: Int = 4, depth: Depth = .eight) {
        guard size.width > 0, size.height > 0, channels == 3 || channels == 4 else { return nil }
        let (row, rowOverflow) = size.width.multipliedReportingOverflow(
            by: channels * depth.rawValue / 8)
        let (count, overflow) = row.multipliedReportingOverflow(by: size.height)
        guard !rowOverflow, !overflow, count == pixels.count else { return nil }
        self.init(
            size: size, channels: channels, depth: depth, storage: .copying(pixels))
    }

    /// Whether there is an alpha channel.
    public var hasAlpha: Bool { channels == 4 }
    /// Bytes from one pixel to the next.
    public var bytesPerPixel: Int { channels * depth.rawValue / 8 }
    /// Bytes from one row to the next.
    public var bytesPerRow: Int { size.width * bytesPerPixel }
    /// Bytes of all pixels.
    public var byteCount: Int { bytesPerRow * size.height }

    /// Calls `body` with the pixels.
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        defer { withExtendedLifetime(storage) {} }
        return try body(UnsafeRawBufferPointer(start: address, count: byteCount))
    }

    /// A copy of the pixels.
    public var data: Data {
        withUnsafeBytes { Data($0) }
    }

    /// The pixel at column `x` of row `y`, each component 0…1; alpha is 1 without an alpha channel.
    public subscript(x: Int, y: Int) -> Color {
        precondition(
            x >= 0 && y >= 0 && x < size.width && y < size.height, "pixel outside the bitmap")
        return withUnsafeBytes { bytes in
            let start = y * bytesPerRow + x * bytesPerPixel
            let components = (0..<channels).map { channel -> Double in
                switch depth {
                case .eight:
                    Double(bytes[start + channel]) / 255
                case .sixteen:
                    Double(
                        bytes.loadUnaligned(fromByteOffset: start + channel * 2, as: UInt16.self)
                    ) / 65535
                }
            }
            return Color(
                red: components[0], green: components[1], blue: components[2],
                alpha: channels == 4 ? components[3] : 1)
        }
    }
}

extension Bitmap {
    /// Where the pixels are: equal for bitmaps that share them, as long as one of them exists.
    package struct Identity: Hashable, Sendable {
        let storage: ObjectIdentifier
        let offset: Int
    }

    package var identity: Identity {
        Identity(storage: ObjectIdentifier(storage), offset: offset)
    }

    /// The first pixel; valid as long as this bitmap, or another one that shares its pixels, exists.
    package var address: UnsafeRawPointer {
        UnsafeRawPointer(storage.pointer).advanced(by: offset)
    }
}
