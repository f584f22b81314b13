import Foundation
import Synchronization
import Vips

/// Pixels that tests make and look at, as plain arrays.
struct Pixels: Equatable {
    var width: Int
    var height: Int
    var bands: Int
    var samples: [UInt8]

    init(_ width: Int, _ height: Int, _ bands: Int, _ sample: (Int, Int, Int) -> UInt8) {
        (self.width, self.height, self.bands) = (width, height, bands)
        samples = (0..<width * height * bands).map { index in
            sample(index / bands % width, index / bands / width, index % bands)
        }
    }

    /// The evaluated 8-bit pixels of an image.
    init(_ image: VipsImage) throws {
        let pixels = try image.rendered()
        (width, height, bands) = (pixels.width, pixels.height, pixels.bands)
        samples = pixels.withUnsafeBytes { Array($0) }
    }

    subscript(x: Int, y: Int) -> [UInt8] {
        let start = (y * width + x) * bands
        return Array(samples[start..<start + bands])
    }

    /// An image over a copy of the pixels.
    func image(
        as interpretation: VipsInterpretation? = nil, onFree: (@Sendable () -> Void)? = nil
    ) throws -> VipsImage {
        let memory = Memory(samples, onFree: onFree)
        return try VipsImage.memory(
            memory.pointer, count: memory.count, owner: memory, width: width, height: height,
            bands: bands, format: .uchar,
            interpretation: interpretation ?? (bands < 3 ? .bw : .srgb))
    }

    /// A picture without any symmetry: each sample tells its place.
    static func numbered(_ width: Int, _ height: Int, _ bands: Int) -> Pixels {
        Pixels(width, height, bands) { x, y, band in
            UInt8(truncatingIfNeeded: x * 7 + y * 31 + band * 101)
        }
    }

    /// A soft gradient, which resampling and lossy codecs keep.
    static func gradient(_ width: Int, _ height: Int, _ bands: Int = 3) -> Pixels {
        Pixels(width, height, bands) { x, y, band in
            UInt8((x * 255 / max(width - 1, 1) + y * 255 / max(height - 1, 1) + band * 40) / 3)
        }
    }
}

extension VipsImage {
    /// Width, height and bands.
    var shape: [Int] { [width, height, bands] }

    /// The evaluated samples of a 16-bit image.
    func deepSamples() throws -> [UInt16] {
        try rendered().withUnsafeBytes { Array($0.bindMemory(to: UInt16.self)) }
    }

    /// A row of 16-bit pixels.
    static func deep(
        _ samples: [UInt16], bands: Int, as interpretation: VipsInterpretation
    ) throws -> VipsImage {
        let bytes = samples.withUnsafeBytes { Memory($0) }
        return try memory(
            bytes.pointer, count: bytes.count, owner: bytes, width: samples.count / bands,
            height: 1, bands: bands, format: .ushort, interpretation: interpretation)
    }
}

/// Heap memory that tells when it is freed, and spoils its content then.
final class Memory: Sendable {
    nonisolated(unsafe) let pointer: UnsafeMutableRawPointer
    let count: Int
    private let onFree: (@Sendable () -> Void)?

    init(_ bytes: some Collection<UInt8>, onFree: (@Sendable () -> Void)? = nil) {
        count = bytes.count
        pointer = .allocate(byteCount: max(count, 1), alignment: 16)
        UnsafeMutableRawBufferPointer(start: pointer, count: count).copyBytes(from: bytes)
        self.onFree = onFree
    }

    /// The memory as bytes that keep it alive.
    var data: Data {
        Data(
            bytesNoCopy: pointer, count: count,
            deallocator: .custom { [self] _, _ in withExtendedLifetime(self) {} })
    }

    deinit {
        memset(pointer, 0xA5, count)
        pointer.deallocate()
        onFree?()
    }
}

/// A flag that a deallocation sets.
final class Flag: Sendable {
    private let value = Mutex(false)

    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}

/// A file of a temporary name, which is removed after `body`.
func withTemporaryFile<Result>(
    _ ending: String, _ body: (String) throws -> Result
) rethrows -> Result {
    let path = FileManager.default.temporaryDirectory.path + "/\(UUID().uuidString).\(ending)"
    defer { try? FileManager.default.removeItem(atPath: path) }  // only tidies up
    return try body(path)
}

/// Runs `body` once on each of `count` threads of its own and returns what they made, in order.
func onThreads<Result: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) -> Result
) -> [Result] {
    let results = Mutex<[Int: Result]>([:])
    let group = DispatchGroup()
    for index in 0..<count {
        group.enter()
        let thread = Thread {
            let result = body(index)
            Vips.endJob()
            results.withLock { $0[index] = result }
            group.leave()
        }
        thread.start()
    }
    group.wait()
    return results.withLock { results in (0..<count).map { results[$0]! } }
}

/// Smallest ICC profiles of version 2, written field by field (ICC.1:2001).
enum ProfileFixture {
    /// A grey profile whose device values are `light ^ (1 / gamma)`.
    static func grey(gamma: Double) -> Data {
        profile(space: "GRAY", tags: [("kTRC", curve(gamma))])
    }

    /// A matrix profile with the primaries of sRGB, or with red and green exchanged.
    static func rgb(gamma: Double, swapped: Bool = false) -> Data {
        let (red, green) = ([0.4361, 0.2225, 0.0139], [0.3851, 0.7169, 0.0971])
        return profile(
            space: "RGB ",
            tags: [
                ("rXYZ", xyz(swapped ? green : red)), ("gXYZ", xyz(swapped ? red : green)),
                ("bXYZ", xyz([0.1431, 0.0606, 0.7141])), ("rTRC", curve(gamma)),
                ("gTRC", curve(gamma)), ("bTRC", curve(gamma)),
            ])
    }

    private static func profile(space: String, tags: [(String, [UInt8])]) -> Data {
        let tags = [("wtpt", xyz([0.9642, 1, 0.8249]))] + tags
        var offset = 128 + 4 + 12 * tags.count
        var table = bigEndian(tags.count)
        var content: [UInt8] = []
        for (name, bytes) in tags {
            table += Array(name.utf8) + bigEndian(offset) + bigEndian(bytes.count)
            let padded = bytes + Array(repeating: 0, count: (4 - bytes.count % 4) % 4)
            content += padded
            offset += padded.count
        }
        var header = bigEndian(offset) + bigEndian(0) + [2, 0x10, 0, 0]
        header += Array("mntr".utf8) + Array(space.utf8) + Array("XYZ ".utf8)
        header += Array(repeating: 0, count: 12) + Array("acsp".utf8)
        header += Array(repeating: 0, count: 28)
        header += [0.9642, 1, 0.8249].flatMap { fixed($0) }
        header += Array(repeating: 0, count: 128 - header.count)
        return Data(header + table + content)
    }

    private static func curve(_ gamma: Double) -> [UInt8] {
        let exponent = Int((gamma * 256).rounded())
        return Array("curv".utf8) + bigEndian(0) + bigEndian(1)
            + [UInt8(exponent >> 8), UInt8(exponent & 255)]
    }

    private static func xyz(_ values: [Double]) -> [UInt8] {
        Array("XYZ ".utf8) + bigEndian(0) + values.flatMap { fixed($0) }
    }

    private static func fixed(_ value: Double) -> [UInt8] {
        bigEndian(Int((value * 65536).rounded()))
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
