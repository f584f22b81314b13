import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// An article that builds an image view for the reused cells of a list by hand: what it wants of the
/// view is what a binding does.
@MainActor @Suite struct ReusedViewArticleTests {
    @Test func theSpinnerTurnsUntilTheImageIsThereOrTheFailureIsSaid() async throws {
        let fixture = try await PresentationFixture()
        let gate = fixture.hold()
        let view = DownloadableImageView(options: fixture.options)
        view.downloadImage(url: fixture.url(width: 3).absoluteString)
        #expect(view.loadingView.isAnimating && view.image == nil && view.textView.isHidden)
        gate.open()
        await view.ends.waitFor(count: 1)
        #expect(!view.loadingView.isAnimating && view.textView.isHidden && view.shown == [3])
        view.downloadImage(url: fixture.missing.absoluteString)
        await view.ends.waitFor(count: 2)
        #expect(!view.textView.isHidden && !view.loadingView.isAnimating && view.image == nil)
        // What is in memory is applied at once.
        view.downloadImage(url: fixture.url(width: 3).absoluteString)
        #expect(view.textView.isHidden && view.shown == [3, 3])
        view.downloadImage(url: "")
        #expect(!view.textView.isHidden && !view.loadingView.isAnimating)
    }

    @Test func aCancelledDownloadIsNotAppliedAndAReusedViewShowsItsLastImageOnly() async throws {
        let fixture = try await PresentationFixture()
        let gate = fixture.hold()
        let view = DownloadableImageView(options: fixture.options)
        view.downloadImage(url: fixture.url(width: 8).absoluteString)
        await fixture.origin.waitForRequests(1)
        view.isCancel = true
        await fixture.origin.waitForAbandonedRequests(1)
        #expect(view.image == nil && !view.loadingView.isAnimating && view.textView.isHidden)
        for width in 1...7 { view.downloadImage(url: fixture.url(width: width).absoluteString) }
        #expect(!view.isCancel)
        gate.open()
        await view.ends.waitFor(count: 1)
        #expect(view.shown == [7])
    }
}

// MARK: The article's view

/// The article's view, on a toolkit without a screen: the view keeps its interface, a binding does what
/// its task and its flags did.
@MainActor private final class DownloadableImageView {
    let loadingView = HeadlessActivityView()
    let textView = HeadlessLabel("image_load_fail")
    let ends = Recorder<Void>()
    private(set) var shown: [Int] = []
    private let options: KingfisherOptionsInfo
    private lazy var binding = ReusableImageBinding { [weak self] in self?.present($0) }

    var image: KFCrossPlatformImage? {
        didSet { if let image { shown.append(image.pixelSize.width) } }
    }

    var isCancel: Bool = false {
        willSet {
            if newValue {
                binding.unbind()
            }
        }
    }

    private var isFail: Bool = false {
        willSet {
            textView.isHidden = !newValue
            loadingView.stopAnimating()
        }
    }

    init(options: KingfisherOptionsInfo) {
        self.options = options
        textView.isHidden = true
    }

    func downloadImage(url: String) {
        self.image = nil
        isFail = false
        isCancel = false

        guard let url = URL(string: url) else {
            self.isFail = true
            return
        }

        binding.bind(to: url, options: options)
    }

    private func present(_ state: ReusableImageState) {
        switch state {
        case .empty:
            image = nil
            loadingView.stopAnimating()
        case .loading:
            loadingView.startAnimating()
        case .success(let image):
            self.image = image
            self.isFail = false
            ends.record(())
        case .failure:
            isFail = true
            ends.record(())
        }
    }
}
