public import CoefficientJPEG

/// One file to compare the two decoders with.
public struct FuzzCase {
    public enum Verdict: Hashable, Sendable {
        /// Decoded, with planes equal to libjpeg's at 1/8.
        case equal
        /// Decoded with equal planes, for a progressive file with errors in scans that do not
        /// affect 1/8.
        case equalWhereShown
        /// Refused; `readByReference` is whether libjpeg decodes it without a warning.
        case refused(JPEGRefusal, readByReference: Bool)
        /// Decoded, but with planes other than libjpeg's.
        case different
        /// Decoded, but libjpeg warns or fails.
        case doubtful
        /// Decoded at 1/8, but not at 1/4 or 1/2.
        case uneven

        public var isFailure: Bool {
            switch self {
            case .equal, .equalWhereShown, .refused: false
            case .different, .doubtful, .uneven: true
            }
        }
    }

    public let bytes: [UInt8]

    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// The case at `index` in the sequence of `seed`.
    public init(seed: UInt64, index: Int) {
        var random = SeededRandom(seed: seed)
        random = SeededRandom(seed: random.next() ^ UInt64(index) &* 0xD134_2543_DE82_EF95)
        var bytes = JPEGSample(using: &random).encoded()
        let other = JPEGSample(width: 9, height: 9).changed(using: &random).encoded()
        let changes = [0, 1, 1, 1, 1, 2, 3, 6].randomElement(using: &random)!
        for _ in 0..<changes {
            let mutation = JPEGMutation.allCases.randomElement(using: &random)!
            bytes = mutation.apply(to: bytes, other: other, using: &random)
        }
        self.bytes = bytes
    }

    public func verdict() -> Verdict {
        let ours: Planes
        do {
            ours = try Planes(decoding: bytes, reducedTo: .eighth)
        } catch {
            for reduction in [JPEGReduction.quarter, .half] {
                _ = try? Planes(decoding: bytes, reducedTo: reduction)  // Only that it comes back.
            }
            let reference = ReferencePicture(decoding: bytes, denominator: 8)
            let refusal = error as? JPEGRefusal ?? .damaged
            return .refused(refusal, readByReference: reference.isClean)
        }
        let isEven = [JPEGReduction.quarter, .half].allSatisfy { reduction in
            let planes = try? Planes(decoding: bytes, reducedTo: reduction)
            return planes?.planes.count == ours.planes.count
        }
        guard isEven || isProgressive else { return .uneven }
        let reference = ReferencePicture(decoding: bytes, denominator: 8)
        if isEven, reference.isClean { return reference.planes == ours ? .equal : .different }
        guard isProgressive else { return .doubtful }
        return reference.planes == ours ? .equalWhereShown : .different
    }

    private var isProgressive: Bool {
        JPEGMutation.segments(of: bytes).contains { bytes[$0.lowerBound + 1] == 0xC2 }
    }
}

extension JPEGSample {
    /// Returns a random sample of the same size.
    fileprivate func changed(using random: inout SeededRandom) -> JPEGSample {
        var sample = JPEGSample(using: &random)
        (sample.width, sample.height) = (width, height)
        return sample
    }
}
