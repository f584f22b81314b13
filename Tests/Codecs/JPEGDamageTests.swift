import Foundation
import Testing

@testable import DirectCodecs

struct JPEGDamageTests {
    private static let size = (width: 83, height: 61)

    private static func file(isProgressive: Bool) throws -> Data {
        try JPEGFixture(width: size.width, height: size.height).jpeg(
            quality: 60, isProgressive: isProgressive)
    }

    /// Everything that can be asked of a file: each either gives pixels or throws.
    private static func outcomes(_ file: Data) -> [Bool] {
        let work: [() throws -> [UInt8]] = [
            { try file.jpegPixels() }, { try file.jpegPixels(denominator: 2) },
            { try file.jpegPixels(20, 15) }, { try file.jpegPixels(20, 15, isFast: true) },
            { try file.jpegPixels(10, 7, isFast: true) }, { try file.jpegPixels(5, 3) },
        ]
        return work.map { (try? $0()) != nil }
    }

    @Test(arguments: [false, true])
    func refusesFilesThatAreCutShort(_ isProgressive: Bool) throws {
        let file = try Self.file(isProgressive: isProgressive)
        #expect(Self.outcomes(file).allSatisfy { $0 })
        for length in stride(from: 0, to: file.count - 2, by: 41) {
            let cut = Data(file.prefix(length))
            #expect(Self.outcomes(cut).allSatisfy { !$0 }, "\(length) of \(file.count)")
        }
    }

    @Test(arguments: [false, true])
    func survivesAnyBytes(_ isProgressive: Bool) throws {
        let file = try Self.file(isProgressive: isProgressive)
        var noise = Noise(isProgressive ? 7 : 8)
        for _ in 0..<60 {
            var damaged = file
            for _ in 0...Int.random(in: 0..<3, using: &noise) {
                // A flipped header would mostly be another size.
                damaged[Int.random(in: 0..<damaged.count, using: &noise)] = noise.bytes(1)[0]
            }
            guard let header = damaged.jpegHeader, header.width * header.height < 1 << 20 else {
                continue
            }
            _ = Self.outcomes(damaged)
        }
    }

    @Test func refusesAHeaderThatContradictsTheFile() throws {
        let small = try Self.file(isProgressive: false)
        let large = try #require(try JPEGFixture(width: 90, height: 61).jpeg().jpegHeader)
        var pixels = [UInt8](repeating: 0, count: 90 * 61 * 3)
        #expect(throws: CodecRefusal.damaged("Its headers contradict each other")) {
            try small.withUnsafeBytes {
                try JPEGReader.read($0, header: large, denominator: 1, into: &pixels)
            }
        }
    }
}
