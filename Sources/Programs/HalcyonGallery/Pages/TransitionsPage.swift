import Foundation
import Halcyon
import HalcyonGTK

enum TransitionsPage {
    private static let duration = 1.2
    private static let interval = Duration.seconds(3)

    @MainActor static func make(_ gallery: Gallery) -> View {
        let views = transitions.map { (ImageView().fixed(width: 230, height: 170), $0.transition) }
        let show = Slides(gallery, views)
        let tiles = zip(views, transitions).map { Tile($0.0, title: $1.name, detail: $1.code) }
        let page = Page(
            "Transitions", "How an image takes the place of the one before it.",
            buttons: [TextButton("Next") { show.next() }], content: TileGrid(tiles, columns: 1...4))
        Signal.connect(UnsafeMutableRawPointer(page.widget), "map") { show.start(every: interval) }
        Signal.connect(UnsafeMutableRawPointer(page.widget), "unmap") { show.stop() }
        return page
    }

    private static let transitions: [(name: String, code: String, transition: ImageTransition)] = [
        ("Fade", ".fade(1.2)", .fade(duration)),
        ("Flip from the left", ".flipFromLeft(1.2)", .flipFromLeft(duration)),
        ("Flip from the right", ".flipFromRight(1.2)", .flipFromRight(duration)),
        ("Flip from the top", ".flipFromTop(1.2)", .flipFromTop(duration)),
        ("Flip from the bottom", ".flipFromBottom(1.2)", .flipFromBottom(duration)),
        ("Custom", ".custom(duration: 1.2, …)", turn),
    ]

    /// Once around, from wherever the view is.
    private static let turn = ImageTransition.custom(
        duration: duration, options: [],
        animations: { view, image in
            guard let view = view as? ImageView else { return }
            view.image = image
            view.pose = Pose(rotation: view.pose.rotation + 360)
        }, completion: nil)

    /// Gives all views one picture after the other.
    @MainActor private final class Slides {
        private let gallery: Gallery
        private let views: [(ImageView, ImageTransition)]
        private var index = 0
        private var running: Task<Void, Never>?

        init(_ gallery: Gallery, _ views: [(ImageView, ImageTransition)]) {
            self.gallery = gallery
            self.views = views
            show(ImageTransition.none)
            prefetch()
        }

        func start(every interval: Duration) {
            running?.cancel()
            running = Task { [weak self] in
                var pause = interval / 2
                // The page has gone when the task is cancelled.
                while (try? await Task.sleep(for: pause)) != nil {
                    self?.next()
                    pause = interval
                }
            }
        }

        func stop() {
            running?.cancel()
        }

        func next() {
            index += 1
            show(nil)
            prefetch()
        }

        /// So that the next transition begins when it is time for it.
        private func prefetch() {
            ImagePrefetcher(
                sources: [gallery.picture(index + 1).source()],
                options: [
                    .targetCache(gallery.cache), .downloader(KingfisherManager.shared.downloader),
                    .processor(Self.processor), .alsoPrefetchToMemory,
                ]
            ).start()
        }

        private static let processor = FittingImageProcessor(
            size: CGSize(width: 320, height: 240), mode: .aspectFill)

        private func show(_ transition: ImageTransition?) {
            for (view, own) in views {
                view.kf.setImage(
                    with: gallery.picture(index).source(),
                    options: [
                        .transition(transition ?? own), .forceTransition,
                        .keepCurrentImageWhileLoading, .processor(Self.processor),
                    ]
                ) { [ledger = gallery.ledger] in ledger.note($0) }
            }
        }
    }
}
