import Foundation
import Halcyon
import HalcyonGTK

/// JPEG files of 640 × 480 pixels in a folder of their own, and a cache for their images.
@MainActor final class Pictures {
    private let folder: URL
    private let files: [URL]
    private let cache: ImageCache

    init(count: Int) throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("halcyon-gtk-benchmarks-\(UUID().uuidString)")
        let pictures = folder.appendingPathComponent("pictures")
        try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
        cache = try ImageCache(name: "benchmarks", cacheDirectoryURL: folder)
        var files: [URL] = []
        let data = try Self.jpeg()
        for index in 0..<count {
            let file = pictures.appendingPathComponent("\(index).jpg")
            try data.write(to: file)
            files.append(file)
        }
        self.files = files
    }

    deinit {
        // Nobody is left who could be told.
        try? FileManager.default.removeItem(at: folder)
    }

    var configuration: ImageCellConfiguration {
        var configuration = ImageCellConfiguration()
        configuration.options = [.targetCache(cache), .cacheMemoryOnly]
        return configuration
    }

    func source(_ index: Int) -> Source {
        files[index % files.count].convertToSource()
    }

    /// Empties the cache.
    func forget() async {
        await cache.clearCache()
    }

    /// Loads all images as `configuration` and a screen with `scale` pixels per point would.
    func fillMemory(_ configuration: ImageCellConfiguration, _ scale: CGFloat) async throws {
        guard case .points(let size) = configuration.imageSize else { return }
        let options: KingfisherOptionsInfo =
            configuration.options + [
                .processor(FittingImageProcessor(size: size, mode: .aspectFill)),
                .scaleFactor(scale),
            ]
        for file in files {
            _ = try await KingfisherManager.shared.retrieveImage(
                with: file.convertToSource(), options: options)
        }
    }

    /// A picture with colours and noise, as photographs have.
    private static func jpeg() throws -> Data {
        let (width, height) = (640, 480)
        var bytes = Data(count: width * height * 4)
        var state: UInt32 = 1
        for y in 0..<height {
            for x in 0..<width {
                state = state &* 1_664_525 &+ 1_013_904_223
                let noise = Int(state >> 28)
                let place = (y * width + x) * 4
                bytes[place] = UInt8(min(255, x * 255 / width + noise))
                bytes[place + 1] = UInt8(min(255, y * 255 / height + noise))
                bytes[place + 2] = UInt8(min(255, (x + y) % 256 + noise))
                bytes[place + 3] = 255
            }
        }
        guard let bitmap = Bitmap(pixels: bytes, size: PixelSize(width: width, height: height))
        else { return Data() }
        return try Image(bitmap: bitmap).kf.data(
            format: .JPEG, options: ImageEncodingOptions(quality: 0.85))
    }
}
