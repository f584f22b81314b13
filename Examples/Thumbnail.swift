import Foundation
import Halcyon

/// A command line program: a copy of a picture whose longer side is `SIZE`, in the format that its name says.
enum Thumbnail {
    private static let formats: [String: ImageFormat] = [
        "jpg": .JPEG, "jpeg": .JPEG, "png": .PNG, "webp": .WebP, "avif": .AVIF,
    ]

    static func run(
        _ arguments: [String], manager: KingfisherManager = .shared
    ) async -> Int32 {
        guard arguments.count == 3, let size = Double(arguments[1]), size >= 1,
            let format = formats[URL(argument: arguments[2]).pathExtension.lowercased()]
        else {
            complain("usage: thumbnail SOURCE SIZE OUTPUT.{jpg,png,webp,avif}")
            return 64
        }
        let processor = DownsamplingImageProcessor(size: CGSize(width: size, height: size))
        do {
            let image = try await manager.retrieveImage(
                with: URL(argument: arguments[0]), options: [.processor(processor)]
            ).image
            try image.kf.data(format: format, options: ImageEncodingOptions(quality: 0.8))
                .write(to: URL(fileURLWithPath: arguments[2]))
            print("\(arguments[2]): \(image.pixelSize.width) × \(image.pixelSize.height)")
            return 0
        } catch {
            complain("\(arguments[0]): \(error.localizedDescription)")
            return 1
        }
    }
}
