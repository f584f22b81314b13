import Foundation
import Halcyon

/// The options that make images of the cells' size.
@MainActor struct CellThumbnails {
    private let configuration: ImageCellConfiguration
    /// The size and mode images are made for; `nil` until a cell is laid out.
    private var place: Place?
    private(set) var options: KingfisherOptionsInfo?
    /// The parsed `options`, for cache lookups.
    private(set) var parsed: KingfisherParsedOptionsInfo?

    private struct Place: Equatable {
        let size: CGSize
        let mode: ContentMode
        let scale: CGFloat
    }

    init(_ configuration: ImageCellConfiguration) {
        self.configuration = configuration
        if configuration.imageSize == .original { use(Self.shared + configuration.options) }
    }

    mutating func fit(_ view: ImageView) {
        let scale = max(1, view.scaleFactor)
        let size: CGSize
        switch configuration.imageSize {
        case .original: return
        case .points(let points): size = points
        case .cell:
            guard view.size.width > 0, view.size.height > 0 else {
                // A cell that gets its size from its image only.
                if options == nil { use(Self.shared + configuration.options) }
                return
            }
            let step = 32 / scale
            size = CGSize(
                width: (view.size.width / step).rounded(.up) * step,
                height: (view.size.height / step).rounded(.up) * step)
        }
        let place = Place(
            size: size, mode: view.contentMode == .fit ? .aspectFit : .aspectFill, scale: scale)
        guard place != self.place else { return }
        self.place = place
        use(makeOptions(for: place))
    }

    private mutating func use(_ new: KingfisherOptionsInfo) {
        options = new
        parsed = KingfisherParsedOptionsInfo(new)
    }

    private func makeOptions(for place: Place) -> KingfisherOptionsInfo {
        var processor: any ImageProcessor = FittingImageProcessor(
            size: place.size, mode: place.mode)
        let options = Self.shared + configuration.options
        let own = KingfisherParsedOptionsInfo(options).processor
        if !own.identifier.isEmpty { processor = processor |> own }
        // The original stays on disk, for cells of other sizes.
        return options + [.processor(processor), .scaleFactor(place.scale), .cacheOriginalImage]
    }

    /// Options of the shared manager, which a prefetcher does not use by itself.
    private static var shared: KingfisherOptionsInfo {
        let manager = KingfisherManager.shared
        return [.targetCache(manager.cache), .downloader(manager.downloader)]
            + manager.defaultOptions
    }
}
