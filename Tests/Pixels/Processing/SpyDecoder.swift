import Foundation
import HalcyonTestKit
import Synchronization

@testable import Halcyon
@testable import HalcyonPixels

/// A decoder of one picture, and the picture that it opens, which delivers half of the size, or a quarter, when that is enough, and
/// remembers what it was asked for.
final class SpyDecoder: OpenedImage {
    private let full: Picture
    private let asked = Mutex<[PixelSize?]>([])

    init(full: Picture) {
        self.full = full
    }

    var requests: [PixelSize?] { asked.withLock { $0 } }

    var header: ImageHeader {
        ImageHeader(
            format: .JPEG, size: PixelSize(width: full.width, height: full.height),
            hasAlpha: false)
    }

    /// Opens any file as this picture.
    var decoder: ImageDecoder {
        ImageDecoder(canDecode: { _ in true }) { _, _, _ in self }
    }

    func decode(frame: Int, _ size: DecodedSize) throws -> DecodedPixels? {
        guard case .atLeast(let leastSize) = size else { return nil }
        asked.withLock { $0.append(leastSize) }
        var divisor = 1
        if let leastSize {
            while full.width / (divisor * 2) >= leastSize.width,
                full.height / (divisor * 2) >= leastSize.height
            {
                divisor *= 2
            }
        }
        let reduced = Picture(width: full.width / divisor, height: full.height / divisor) {
            full[$0 * divisor, $1 * divisor]
        }
        return .bitmap(reduced.bitmap(hasAlpha: false))
    }
}
