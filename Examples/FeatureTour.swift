import CGtk4
import Foundation
public import Halcyon
public import HalcyonGTK

extension Label: Placeholder {}

/// Transitions, placeholders, indicators, processors and serializers, each on a view of one picture.
enum FeatureTour {
    @MainActor struct Stop {
        let name: String
        var placeholder: (any Placeholder)?
        var indicator = IndicatorType.none
        let options: KingfisherOptionsInfo
    }

    /// - Parameter olaf: Stands in for pictures that are not there yet.
    @MainActor static func stops(olaf: Image?) -> [Stop] {
        let spin = ImageTransition.custom(
            duration: 1, options: [],
            animations: { view, image in
                view.image = image
                (view as? ImageView)?.pose.rotation += 360
            }, completion: nil)
        let round = RoundCornerImageProcessor(cornerRadius: 100)
        return [
            Stop(name: "Fade", options: [.transition(.fade(1))]),
            Stop(name: "Flip from the left", options: [.transition(.flipFromLeft(1))]),
            Stop(name: "A transition of one's own", options: [.transition(spin)]),
            Stop(name: "From caches, too", options: [.transition(.fade(1)), .forceTransition]),
            Stop(name: "An image until then", placeholder: olaf, options: [.transition(.fade(2))]),
            Stop(
                name: "A label until then", placeholder: Label("placeholder"),
                options: [
                    .transition(.fade(2)), .forceTransition, .keepCurrentImageWhileLoading,
                ]),
            Stop(name: "An indicator", indicator: .activity, options: [.transition(.fade(2))]),
            Stop(
                name: "Progress", indicator: .custom(indicator: ProgressRingIndicator()),
                options: [.transition(.fade(2))]),
            // A JPEG would fill the corners when it comes from the disk.
            Stop(
                name: "Round corners, stored as PNG",
                options: [
                    .processor(round), .cacheSerializer(FormatIndicatedCacheSerializer.png),
                ]),
            Stop(
                name: "Blurred and grey",
                options: [
                    .processor(BlurImageProcessor(blurRadius: 4) |> BlackWhiteProcessor())
                ]),
        ]
    }

    @MainActor static func show(
        _ stop: Stop, of picture: URL, in view: ImageView, options: KingfisherOptionsInfo = [],
        completionHandler: ImageSettingCompletion? = nil
    ) {
        view.kf.indicatorType = stop.indicator
        view.kf.setImage(
            with: picture, placeholder: stop.placeholder, options: stop.options + options,
            completionHandler: completionHandler)
    }

    @MainActor static func run(_ pictures: [URL]) -> Int32 {
        guard let picture = pictures.first else { return 64 }
        return Application(identifier: "org.example.Tour") { application in
            let views = View(widget: gtk_flow_box_new())
            for stop in stops(olaf: nil) {
                let view = ImageView()
                view.requestedSize = CGSize(width: 200, height: 150)
                view.sizesToImage = false
                view.accessibleDescription = stop.name
                gtk_flow_box_append(OpaquePointer(views.widget), view.widget)
                show(stop, of: picture, in: view)
            }
            application.show(Window(title: "Tour"), content: views)
        }.run()
    }
}
