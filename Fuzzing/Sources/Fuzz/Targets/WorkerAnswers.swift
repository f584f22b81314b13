import Foundation

@testable import HalcyonPixels

extension FuzzTarget {
    /// Answers of a process that decodes, which a file may have taken over. A byte for the format and one for the
    /// count of durations that lie in the region for output, those durations, and the answer. Answers that are wrong in
    /// one place are written by scripts/worker-answer-cases.
    static let workerAnswers = FuzzTarget(
        "workeranswer",
        seeds: {
            let size = PixelSize(width: 16, height: 12)
            var moving = ImageHeader(format: .AVIF, size: size, hasAlpha: true, depth: .sixteen)
            moving.storedSize = PixelSize(width: 17, height: 12)
            moving.timing = AnimationTiming(durations: [0.1, 0.5], loopCount: 3)
            let errors: [ImageCodingError] = [
                .unsupported(.AVIF, reason: "a"), .corrupt(.AVIF, reason: "b: c"),
                .tooComplex(.AVIF, reason: ""), .processing(reason: "ü"),
                .tooManyPixels(size, limit: 9), .tooManyFrames(9, limit: 8),
                .tooMuchMemory(needed: 1 << 40, limit: 1 << 30), .tooSlow(limit: .seconds(1)),
            ]
            let answers: [WorkerAnswer] =
                [
                    .ready(missing: 3),
                    .opened(
                        ImageHeader(format: .AVIF, size: size, hasAlpha: false), isHeldWhole: true,
                        hasPixels: true),
                    .opened(moving, isHeldWhole: false, hasPixels: false),
                    .pixels(size, channels: 4, depth: .eight), .text(byteCount: 99), .unknownFile,
                ] + errors.map { .failure($0) }
            let durations = [0.1, 0.5].flatMap { duration in
                withUnsafeBytes(of: duration.bitPattern.littleEndian, Array.init)
            }
            return answers.map { Data([5, 2] + durations + $0.bytes(id: 7)) }
        }
    ) { data in
        let bytes = [UInt8](data)
        guard bytes.count > 2 else { throw ImageCodingError.emptyData }
        let format = ImageFormat.allCases[Int(bytes[0]) % ImageFormat.allCases.count]
        let count = min(Int(bytes[1]), (bytes.count - 2) / 8)
        var reader = WireReader(Array(bytes[2..<2 + 8 * count]))
        let known = (0..<count).compactMap { _ in
            reader.number().map { Double(bitPattern: UInt64(truncatingIfNeeded: $0)) }
        }
        func durations(_ wanted: Int) -> [Double]? {
            wanted <= known.count ? Array(known.prefix(wanted)) : nil
        }
        let message = Array(bytes[(2 + 8 * count)...])
        var start = WireReader(message)
        guard let id = start.number().map({ UInt64(truncatingIfNeeded: $0) }),
            let answer = WorkerAnswer(message, to: id, format: format, durations: durations)
        else { throw ImageCodingError.processing(reason: "no answer") }
        precondition(
            WorkerAnswer(message, to: id &+ 1, format: format, durations: durations) == nil,
            "an answer to something else")

        switch answer {
        case .opened(let header, _, let hasPixels):
            precondition(header.size.width > 0 && header.size.height > 0 && header.frameCount > 0)
            precondition(header.format == format)
            precondition(header.timing.map { $0.durations.count == header.frameCount } ?? true)
            precondition(!hasPixels || header.timing == nil)
            _ = header.byteCount
        case .pixels(let size, let channels, _):
            precondition(size.width > 0 && size.height > 0 && (channels == 3 || channels == 4))
            _ = size.pixelCount
        case .text(let count): precondition(count >= 0)
        case .failure(let error): precondition(!error.description.isEmpty)
        case .ready, .unknownFile: break
        }
        let again = WorkerAnswer(
            answer.bytes(id: id), to: id, format: format, durations: durations)
        precondition(again != nil, "an answer that is none when it is written again")
    }
}
