import Foundation
import Synchronization

/// The frame buffers of one image's pixels, kept by their players, not by the image.
package final class FrameBuffers: Sendable {
    /// Players that agree in these share their frames.
    package struct Key: Hashable {
        /// The longest side, in pixels, that frames are made smaller to; `nil` for the full size.
        package var longestSide: Int?
        /// Bytes.
        package var budget: Int

        package init(longestSide: Int?, budget: Int) {
            self.longestSide = longestSide
            self.budget = budget
        }
    }

    private struct Reference: Sendable {
        weak var buffer: FrameBuffer?
    }

    private let references = Mutex<[Key: Reference]>([:])

    /// The buffer for `key`, which `make` makes if no player has it.
    func buffer(_ key: Key, make: () -> FrameBuffer) -> FrameBuffer {
        references.withLock { references in
            if let buffer = references[key]?.buffer { return buffer }
            references = references.filter { $0.value.buffer != nil }
            let buffer = make()
            references[key] = Reference(buffer: buffer)
            return buffer
        }
    }
}

extension PixelContent {
    /// The frames that the players of this content share.
    package func frameBuffer(_ key: FrameBuffers.Key) -> FrameBuffer {
        let frameSize = size.fitting(longestSide: key.longestSide)
        let isReduced = frameSize != size
        return frameBuffers.buffer(key) {
            FrameBuffer(
                source: DecodingFrameSource(self, data: nil),
                maxSize: isReduced
                    ? CGSize(width: frameSize.width, height: frameSize.height) : nil,
                bytesPerFrame: bytesPerFrame / max(1, size.pixelCount) * frameSize.pixelCount,
                budget: key.budget,
                resident: { isReduced ? nil : self.ready($0) })
        }
    }
}
