import Foundation
import Halcyon
import HalcyonGTK

/// A window with one picture, decoded at its size.
enum PictureWindow {
    @MainActor static func run(_ pictures: [URL]) -> Int32 {
        guard let picture = pictures.first else { return 64 }
        return Application(identifier: "org.example.Picture") { application in
            application.show(Window(title: picture.lastPathComponent), content: view(of: picture))
        }.run()
    }

    @MainActor static func view(
        of picture: URL, options: KingfisherOptionsInfo = []
    ) -> ImageView {
        let view = ImageView()
        view.accessibleDescription = picture.lastPathComponent
        view.kf.indicatorType = .activity
        view.kf.failureView = { error in Label(error.localizedDescription) }
        view.retriesOnClick = true
        view.downsamplesToSize = true
        view.whenSized {
            $0.kf.setImage(with: picture, options: options + [.transition(.fade(0.3))])
        }
        return view
    }
}
