import Foundation
import Halcyon
import HalcyonGTK

/// An image view that loads its picture: with a spinner meanwhile, and a text when there is none.
final class DownloadableImageView: ImageView {
    private let options: KingfisherOptionsInfo

    init(options: KingfisherOptionsInfo = []) {
        self.options = options + [.cancelWhenSuperseded]
        super.init()
        requestedSize = CGSize(width: 160, height: 160)
        sizesToImage = false
        contentMode = .fill
        kf.indicatorType = .activity
        kf.failureView = { _ in Label("The image could not be loaded") }
    }

    /// Shows a cached picture at once; ends the load of another one.
    func downloadImage(url: String) {
        // A text that is no URL fails as a file that is not there.
        kf.setImage(with: URL(string: url) ?? URL(fileURLWithPath: url), options: options)
    }

    func cancel() {
        kf.cancelDownloadTask()
    }
}

/// A grid of photographs, whose cells are used again while it is scrolled.
enum PhotoGrid {
    @MainActor static func run(_ photos: [URL]) -> Int32 {
        Application(identifier: "org.example.Photos") { application in
            application.show(Window(title: "Photos"), content: grid(of: photos))
        }.run()
    }

    @MainActor static func grid(
        of photos: [URL], options: KingfisherOptionsInfo = []
    ) -> ImageCollectionView<URL> {
        var configuration = ImageCellConfiguration()
        configuration.options = options + [.cancelWhenSuperseded, .transition(.fade(0.2))]
        return ImageCollectionView(
            .grid(columns: 2...6), items: photos, configuration: configuration,
            makeCell: { DownloadableImageView() },
            source: { $0.convertToSource() },
            configure: { $0.accessibleDescription = $1.lastPathComponent })
    }
}
