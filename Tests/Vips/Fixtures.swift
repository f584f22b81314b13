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
