package import Foundation
package import FoundationNetworking
package import Halcyon
package import HalcyonPixels

/// A processor that counts its runs and gives an image of a known size.
package final class CountingProcessor: ImageProcessor {
    package let identifier: String
    package let runs = Locked(0)
    private let gives: PixelSize?

    package init(
        identifier: String = "test.counting", gives: PixelSize? = PixelSize(width: 3, height: 2)
    ) {
        self.identifier = identifier
        self.gives = gives
    }

    package func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        runs.withLock { $0 += 1 }
        guard let gives else { return nil }
        let pixels = Data(repeating: 200, count: gives.pixelCount * 4)
        return Bitmap(pixels: pixels, size: gives).map { Image(bitmap: $0) }
    }
}

/// A processor that is a closure.
package struct ClosureProcessor: ImageProcessor {
    package typealias Making = @Sendable (ImageProcessItem, KingfisherParsedOptionsInfo) -> Image?

    package let identifier: String
    private let make: Making

    package init(identifier: String = "test.closure", make: @escaping Making) {
        self.identifier = identifier
        self.make = make
    }

    package func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> Image? {
        make(item, options)
    }
}

/// An asynchronous modifier that sets fields, if any, when its gate (if any) opens.
package struct HeldModifier: AsyncImageDownloadRequestModifier {
    private let gate: Gate?
    private let fields: [String: String]
    package let ended = Recorder<Void>()
    package let started = Recorder<DownloadTask?>()

    package init(gate: Gate? = nil, fields: [String: String] = [:]) {
        self.gate = gate
        self.fields = fields
    }

    package func modified(for request: URLRequest) async -> URLRequest? {
        // Ends early when the request is cancelled.
        try? await gate?.wait()
        ended.record(())
        var request = request
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    package var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? {
        { [started] in started.record($0) }
    }
}

/// Gives its bytes when its gate opens, and counts how often it is asked.
package struct CountingProvider: ImageDataProvider {
    package let cacheKey = "test.counting-provider"
    package let gate: Gate
    package let calls = Locked(0)
    private let bytes: Data

    package init(bytes: Data, gate: Gate = Gate()) {
        self.bytes = bytes
        self.gate = gate
    }

    package func data() async throws -> Data {
        calls.withLock { $0 += 1 }
        try await gate.wait()
        return bytes
    }
}
