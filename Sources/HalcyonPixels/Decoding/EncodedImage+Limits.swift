import Foundation

extension EncodedImage {
    /// Runs `body`, which decodes and takes `memory` bytes for that, within the limits: when that much may be
    /// taken at all, once there is room beside what else is decoded, and only for so long.
    ///
    /// - Throws: `ImageCodingError`, or what `body` throws.
    func withinLimits<Result>(taking memory: Int, _ body: () throws -> Result) throws -> Result {
        if let limit = limits.maximumMemory, memory > limit {
            throw ImageCodingError.tooMuchMemory(needed: memory, limit: limit)
        }
        return try DecodingBudget.shared.holding(memory) {
            try DecodingWatch.run(limits.maximumDuration, body)
        }
    }
}
