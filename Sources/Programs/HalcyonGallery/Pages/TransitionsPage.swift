import Foundation
import Halcyon
import HalcyonGTK

enum TransitionsPage {
    private static let duration = 1.2
    private static let interval = Duration.seconds(3)

    @MainActor static func make(_ gallery: Gallery) -> View {
        let views = transitions.map { _ in PictureView(width: 230, height: 170) }
        let show = Slides(gallery, zip(views, transitions.map(\.transition)).map { ($0, $1) })
        let tiles = zip(views, transitions).map { view, entry in
            Tile(view, title: entry.name, detail: entry.code)
        }
        let page = Page(
            "Transitions", "How an image takes the place of the one before it.",
            buttons: [TextButton("Next") { show.next() }], content: TileGrid(tiles, columns: 2...4))
        Signal.connect(UnsafeMutableRawPointer(page.widget), "map") { show.start(every: interval) }
        Signal.connect(UnsafeMutableRawPointer(page.widget), "unmap") { show.stop() }
        return page
    }

    private struct Entry {
        let name: String
        let code: String
        let transition: ImageTransition
    }

    private static let transitions = [
        Entry(name: "Fade", code: ".fade(1.2)", transition: .fade(duration)),
        Entry(
            name: "Flip from the left", code: ".flipFromLeft(1.2)",
            transition: .flipFromLeft(duration)),
        Entry(
            name: "Flip from the right", code: ".flipFromRight(1.2)",
            transition: .flipFromRight(duration)),
        Entry(
            name: "Flip from the top", code: ".flipFromTop(1.2)", transition: .flipFromTop(duration)
        ),
        Entry(
            name: "Flip from the bottom", code: ".flipFromBottom(1.2)",
            transition: .flipFromBottom(duration)),
        Entry(
            name: "Custom", code: ".custom(duration: 1.2, …)",
            transition: .custom(
                duration: duration, options: [],
                animations: { view, image in
                    guard let view = view as? ImageView else { return }
                    // Once around, from wherever it is.
                    view.image = image
                    view.pose = Pose(rotation: view.pose.rotation + 360)
                }, completion: nil)),
    ]

    /// Gives all views one picture after the other.
    @MainActor private final class Slides {
        private let gallery: Gallery
        private let views: [(view: ImageView, transition: ImageTransition)]
        private var index = 0
        private var running: Task<Void, Never>?

        init(_ gallery: Gallery, _ views: [(ImageView, ImageTransition)]) {
            self.gallery = gallery
            self.views = views.map { (view: $0, transition: $1) }
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
