import CGtk4
import Foundation
import Halcyon
import HalcyonGTK

/// The code of `docs/guides/gtk.md` and in the documentation of views; see `GuideSnippetTests` of the tests of
/// Halcyon.
@MainActor enum GTKGuideSnippets {
    static func readme(_ imageView: ImageView, _ url: URL) {
        // guide: README/view
        imageView.kf.indicatorType = .activity
        imageView.kf.setImage(
            with: url,
            options: [
                .processor(RoundCornerImageProcessor(cornerRadius: 20)),
                .cacheSerializer(FormatIndicatedCacheSerializer.png),
                .transition(.fade(1)),
            ]
        ) { result in
            if case .failure(let error) = result { print(error) }
        }
        // end
    }

    enum Viewer {
        // guide: gtk/program
        @MainActor static func main() {
            let application = Application(identifier: "org.example.Viewer") { application in
                let view = ImageView()
                view.kf.setImage(with: URL(string: "https://example.org/kingfisher.jpg"))
                application.show(Window(title: "Kingfisher"), content: view)
            }
            exit(application.run())
        }
        // end
    }

    static func view(_ url: URL, _ placeholder: Image, _ options: KingfisherOptionsInfo)
        -> ImageView
    {
        // guide: gtk/view
        let view = ImageView()
        view.contentMode = .fill
        view.cornerRadius = .point(8)
        view.accessibleDescription = "A kingfisher on a branch"
        view.kf.indicatorType = .activity
        view.kf.setImage(
            with: url, placeholder: placeholder, options: options + [.transition(.fade(0.3))])
        // end
        return view
    }

    static func placeholder(_ view: ImageView, _ url: URL) {
        // guide: gtk/placeholder
        KF.url(url)
            .placeholder(
                blurHash: "LxH2cX2swxX8l}WDjte;gJfjfQfj", size: CGSize(width: 320, height: 240)
            )
            .fade(duration: 0.3)
            .set(to: view)
        // end
    }

    static func window(_ window: UnsafeMutablePointer<GtkWindow>) {
        // guide: gtk/widget
        let view = ImageView()
        gtk_window_set_child(window, view.widget)
        // end
    }

    static func size(_ view: ImageView, _ url: URL, _ options: KingfisherOptionsInfo) {
        // guide: gtk/size
        view.downsamplesToSize = true
        view.whenSized { $0.kf.setImage(with: url, options: options) }
        // end
    }

    static func failure(_ view: ImageView) {
        // guide: gtk/failure
        view.kf.indicatorType = .custom(indicator: ProgressRingIndicator())
        view.kf.failureView = { error in Label("Error \(error.errorCode)") }
        view.retriesOnClick = true
        // end
    }

    static func animation(_ url: URL, _ options: KingfisherOptionsInfo) -> AnimatedImageView {
        // guide: gtk/animation
        let view = AnimatedImageView()
        view.repeatCount = .finite(count: 3)
        view.kf.setImage(with: url, options: options)
        // end
        return view
    }

    static func list(_ urls: [URL], _ options: KingfisherOptionsInfo) -> View {
        // guide: gtk/list
        var configuration = ImageCellConfiguration()
        configuration.options = options + [.transition(.fade(0.2))]
        configuration.prefetchCount = 30

        let list = ImageCollectionView(
            .grid(columns: 3...8), items: urls, configuration: configuration,
            makeCell: { () -> ImageView in
                let cell = ImageView()
                cell.requestedSize = CGSize(width: 140, height: 140)
                cell.contentMode = .fill
                return cell
            },
            source: { url in url.convertToSource() },
            configure: { cell, url in cell.accessibleDescription = url.lastPathComponent })
        // end
        return list
    }

    static func factory(
        _ urls: [URL], _ model: OpaquePointer, _ configuration: ImageCellConfiguration
    ) -> UnsafeMutablePointer<GtkWidget>? {
        // guide: gtk/factory
        let factory = ImageCellFactory(
            configuration: configuration,
            makeCell: { ImageView() },
            source: { item in urls[item.position].convertToSource() })
        g_object_ref(UnsafeMutableRawPointer(factory.pointer))
        let list = gtk_list_view_new(model, factory.pointer)
        // end
        return list
    }

    static func meter() -> Duration {
        // guide: gtk/meter
        MainLoopMeter.start()
        // … and later, for example when the window is closed:
        print("longest turn of the main loop:", MainLoopMeter.longestTurn)
        // end
        return MainLoopMeter.longestTurn
    }

    // MARK: In the documentation of types

    static func lend(_ box: UnsafeMutablePointer<GtkBox>) {
        // guide: View/example
        gtk_box_append(box, Label("Cat").widget)
        // end
    }

    static func ring(_ imageView: ImageView) {
        // guide: ProgressRingIndicator/example
        imageView.kf.indicatorType = .custom(indicator: ProgressRingIndicator())
        // end
    }
}

// guide: Application/example
enum Viewer {
    @MainActor static func main() {
        let application = Application(identifier: "org.example.Viewer") { application in
            let view = ImageView()
            view.kf.setImage(with: URL(string: "https://example.org/cat.jpg"))
            application.show(Window(title: "Cat"), content: view)
        }
        exit(application.run())
    }
}
// end
