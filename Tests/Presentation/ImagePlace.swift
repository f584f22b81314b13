import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// A view that shows an image, or the part of one that does: all do the same.
@MainActor struct ImagePlace: CustomTestStringConvertible {
    /// A place that was made.
    @MainActor struct Made {
        let set:
            @MainActor (
                URL?, KingfisherOptionsInfo, DownloadProgressBlock?, ImageSettingCompletion?
            ) -> DownloadTask?
        let shown: @MainActor () -> Image?
        let cancel: @MainActor () -> Void
        let identifier: @MainActor () -> Source.Identifier.Value?
        /// Whether nothing else of its view shows an image.
        var isAlone: @MainActor () -> Bool = { true }
    }

    nonisolated let testDescription: String
    let make: @MainActor () -> Made

    nonisolated init(_ name: String, _ make: @escaping @MainActor () -> Made) {
        testDescription = name
        self.make = make
    }

    nonisolated static let all = [
        ImagePlace("image view") {
            let view = HeadlessImageView()
            return Made(
                set: {
                    view.kf.setImage(
                        with: $0, options: $1, progressBlock: $2, completionHandler: $3)
                },
                shown: { view.image }, cancel: { view.kf.cancelDownloadTask() },
                identifier: { view.kf.taskIdentifier }, isAlone: { view.overlays.isEmpty })
        },
        ImagePlace("image holder") {
            let holder = HeadlessImageHolder()
            return Made(
                set: {
                    holder.kf.setImage(
                        with: $0, options: $1, progressBlock: $2, completionHandler: $3)
                },
                shown: { holder.image }, cancel: { holder.kf.cancelDownloadTask() },
                identifier: { holder.kf.taskIdentifier })
        },
        ImagePlace("button") {
            let button = HeadlessButton()
            return Made(
                set: {
                    button.kf.setImage(
                        with: $0, for: .highlighted, options: $1, progressBlock: $2,
                        completionHandler: $3)
                },
                shown: { button.image(for: .highlighted) },
                cancel: { button.kf.cancelImageDownloadTask() },
                identifier: { button.kf.taskIdentifier(for: .highlighted) },
                isAlone: { button.images.count == 1 && button.backgrounds.isEmpty })
        },
        ImagePlace("background of a button") {
            let button = HeadlessButton()
            return Made(
                set: {
                    button.kf.setBackgroundImage(
                        with: $0, for: .selected, options: $1, progressBlock: $2,
                        completionHandler: $3)
                },
                shown: { button.backgroundImage(for: .selected) },
                cancel: { button.kf.cancelBackgroundImageDownloadTask() },
                identifier: { button.kf.backgroundTaskIdentifier(for: .selected) },
                isAlone: { button.backgrounds.count == 1 && button.images.isEmpty })
        },
        ImagePlace("toggle button") {
            let button = HeadlessToggleButton()
            return Made(
                set: {
                    button.kf.setImage(
                        with: $0, options: $1, progressBlock: $2, completionHandler: $3)
                },
                shown: { button.image }, cancel: { button.kf.cancelImageDownloadTask() },
                identifier: { button.kf.taskIdentifier },
                isAlone: { button.alternateImage == nil })
        },
        ImagePlace("alternate image of a toggle button") {
            let button = HeadlessToggleButton()
            return Made(
                set: {
                    button.kf.setAlternateImage(
                        with: $0, options: $1, progressBlock: $2, completionHandler: $3)
                },
                shown: { button.alternateImage },
                cancel: { button.kf.cancelAlternateImageDownloadTask() },
                identifier: { button.kf.alternateTaskIdentifier },
                isAlone: { button.image == nil })
        },
    ]
}
