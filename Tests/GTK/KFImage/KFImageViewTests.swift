import CGtk4
import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct KFImageViewTests {
    private let ticker = ManualFrameTicker()
    private let gate = Gate()
    private let events = Recorder<String>()
    private let fixture: LoadFixture

    init() async throws { fixture = try await LoadFixture() }

    private func describe<Description: KFImageProtocol>(
        _ url: URL?, as type: Description.Type = KFImage.self
    ) -> Description {
        Description(url).targetCache(fixture.cache).downloader(fixture.downloader).waitForCache()
            .onSuccess { [events] _ in events.record("success") }
            .onFailure { [events] _ in events.record("failure") }
    }

    private func shown(_ view: KFImageView) async -> TestWindow {
        view.frameTicker = ticker
        return await TestWindow(view, width: 100, height: 100)
    }

    /// A window in which the image of the view is seen.
    private func loaded(_ view: KFImageView) async -> TestWindow {
        let window = await shown(view)
        await window.frames { view.isLoaded }
        return window
    }

    /// A blue image, which waits for the gate.
    private func heldImage() -> URL { fixture.route("/a.png", .blue, gate: gate) }

    /// Lets the image come and its transition begin.
    private func beginTransition(in window: TestWindow) async {
        gate.open()
        await window.frames { ticker.subscriberCount == 1 }
        ticker.advance(by: .zero)
    }

    // MARK: Placeholder, image, failure

    @Test func thePlaceholderIsSeenUntilTheImageComes() async throws {
        let placeholder = square(.red)
        let view = describe(heldImage()).placeholder { placeholder }.resizable().makeView()
        #expect(fixture.origin.requestCount == 0)
        let window = await shown(view)
        #expect(await window.screenshot().pixel(50, 50) == .red)
        gate.open()
        await window.frames { view.isLoaded }
        #expect(
            await window.screenshot().isEqual(to: bitmap(.solid(.blue, width: 100, height: 100))))
        #expect(!placeholder.isMapped && events.events == ["success"])
    }

    @Test func anImageCanBeThePlaceholderAndCoversThePlace() async throws {
        let placeholder = image(.solid(.red, width: 8, height: 4))
        let view = describe(heldImage()).placeholder(placeholder).resizable().makeView()
        let window = await shown(view)
        #expect(
            await window.screenshot().isEqual(to: bitmap(.solid(.red, width: 100, height: 100))))
        gate.open()
        await window.frames { view.isLoaded }
        #expect(await window.screenshot().pixel(50, 50) == .blue)
    }

    @Test func anImageThatIsNotResizableKeepsItsSize() async throws {
        let view = describe(fixture.route("/a.png", .blue)).makeView()
        let shot = await loaded(view).screenshot()
        #expect(shot.visiblePixelCount == 400 && shot.pixel(40, 40) == .blue)
        #expect(view.measure(.horizontal, other: nil).natural == 20)
    }

    @Test func theFailureViewIsSeenAndTheLoadCanBeginAnew() async throws {
        fixture.origin.route(
            "/a.png", sequence: [.status(500), .png(PNGFixture.solid(.blue, width: 4, height: 4))])
        let notice = square(.green)
        let view = describe(fixture.origin.url("/a.png"))
            .onFailureImage(image(.solid(.red, width: 4, height: 4)))
            .onFailureView { notice }.resizable().makeView()
        let window = await shown(view)
        await events.waitFor(count: 1)
        #expect(await window.screenshot().pixel(50, 50) == .green)
        view.retry()
        await window.frames { view.isLoaded }
        #expect(await window.screenshot().pixel(50, 50) == .blue)
        #expect(events.events == ["failure", "success"])
    }

    @Test func aProgressRingIsAPlaceholderThatFills() async throws {
        let png = PNGFixture.solid(.blue, width: 40, height: 40)
        fixture.origin.route(
            "/a.png", .png(png).with(.hold(afterBytes: png.count / 2, .gate(gate))))
        let ring = ProgressRing()
        let view = describe(fixture.origin.url("/a.png")).placeholder { ring }.makeView()
        let window = await shown(view)
        await window.frames { ring.fraction != nil }
        #expect(abs((ring.fraction ?? 0) - 0.5) < 0.02)
        gate.open()
        await window.frames { view.isLoaded }
    }

    // MARK: Transitions

    @Test func theImageFadesInOverThePlaceholder() async throws {
        let view = describe(heldImage()).placeholder { square(.red) }.resizable()
            .fade(duration: 1).makeView()
        let window = await shown(view)
        #expect(await window.screenshot().pixel(50, 50) == .red)
        await beginTransition(in: window)
        ticker.advance(by: .milliseconds(500))
        #expect(await window.screenshot().pixel(50, 50).isNear(.mean(.red, .blue)))
        ticker.advance(by: .milliseconds(500))
        #expect(await window.screenshot().pixel(50, 50) == .blue)
        #expect(ticker.subscriberCount == 0 && events.events == ["success"])
    }

    @Test func aLoadTransitionTurnsTheWholeView() async throws {
        let view = describe(heldImage()).placeholder { square(.red) }.resizable()
            .loadTransition(.flipFromTop(1), animation: .linear()).makeView()
        let window = await shown(view)
        await beginTransition(in: window)
        ticker.advance(by: .milliseconds(250))
        let turning = await window.screenshot()
        #expect(turning.pixel(50, 50).isNear(.red) && turning.pixel(2, 50).alpha == 0)
        ticker.advance(by: .milliseconds(250))
        #expect(await window.screenshot().visiblePixelCount == 0)
        ticker.advance(by: .milliseconds(500))
        #expect(await window.screenshot().pixel(2, 50) == .blue)
    }

    @Test func aCustomTransitionMovesTheImageView() async throws {
        let transition = ImageTransition.custom(
            duration: 1, options: .curveLinear,
            animations: { view, image in
                view.image = image
                (view as? ImageView)?.pose = Pose(offset: CGPoint(x: 50, y: 0))
            }, completion: { [events] in events.record("end \($0)") })
        let view = describe(heldImage()).resizable().loadTransition(transition).makeView()
        view.imageView.frameTicker = ticker
        let window = await shown(view)
        await beginTransition(in: window)
        ticker.advance(by: .milliseconds(500))
        let middle = await window.screenshot()
        #expect(middle.pixel(23, 50).alpha == 0 && middle.pixel(27, 50) == .blue)
        ticker.advance(by: .milliseconds(500))
        #expect(events.events == ["success", "end true"])
        #expect(await window.screenshot().pixel(48, 50).alpha == 0)
    }

    // MARK: The screen

    @Test func leavingTheScreenCancelsAndComingBackLoadsAgain() async throws {
        let view = describe(heldImage()).cancelOnDisappear(true).resizable().makeView()
        let window = await shown(view)
        await fixture.origin.waitForRequests(1)
        view.isHidden = true
        #expect(await events.waitFor(count: 1) == ["failure"])
        gate.open()
        view.isHidden = false
        await window.frames { view.isLoaded }
        #expect(await window.screenshot().pixel(50, 50) == .blue)
        #expect(events.events == ["failure", "success"])
    }

    @Test func aLoadMayBeginBeforeTheViewIsOnTheScreen() async throws {
        let url = fixture.route("/a.png", .blue)
        let view = describe(url).startLoadingBeforeViewAppear().makeView()
        await events.waitFor(count: 1)
        #expect(view.isLoaded && !view.isMapped)
    }

    // MARK: Other descriptions

    @Test func anotherSourceBeginsAnewAndTheSameGoesOn() async throws {
        let first = fixture.route("/a.png", .blue)
        let second = fixture.route("/b.png", .green, gate: gate)
        let view = describe(first).resizable().makeView()
        let window = await loaded(view)
        view.update(describe(first).resizable().placeholder { square(.red) })
        #expect(view.isLoaded && fixture.origin.requestCount == 1)
        #expect(await window.screenshot().pixel(50, 50) == .blue)

        view.update(describe(second).resizable().placeholder { square(.red) })
        #expect(!view.isLoaded)
        #expect(await window.screenshot().pixel(50, 50) == .red)
        gate.open()
        await window.frames { view.isLoaded }
        #expect(await window.screenshot().pixel(50, 50) == .green)
        #expect(events.events == ["success", "success"])
    }

    @Test func theViewIsConfiguredAndWrapped() async throws {
        let url = fixture.route("/a.png", .blue)
        let frame = FramedView()
        let view = describe(url).resizable()
            .configure { ($0 as? ImageView)?.cornerRadius = .point(20) }
            .contentConfigure { frame.around($0) }
            .makeView()
        let shot = await loaded(view).screenshot()
        #expect(shot.pixel(5, 5) == .green && shot.pixel(50, 50) == .blue)
        // The corner that is cut off lets the frame shine.
        #expect(shot.pixel(12, 12) == .green)
    }

    // MARK: How it is drawn

    @Test func capsKeepTheirSize() async throws {
        // A frame of 5 around a middle of 10.
        let grid = PixelGrid(width: 20, height: 20) { x, y in
            (5..<15).contains(x) && (5..<15).contains(y) ? .blue : .red
        }
        let insets = KFImage.EdgeInsets(top: 5, leading: 5, bottom: 5, trailing: 5)
        let view = describe(fixture.route("/a.png", PNGFixture.data(grid)))
            .resizable(capInsets: insets).makeView()
        let shot = await loaded(view).screenshot()
        for (x, y) in [(3, 3), (50, 3), (96, 96), (3, 50)] {
            #expect(shot.pixel(x, y).isNear(.red))
        }
        for (x, y) in [(12, 12), (50, 50), (87, 87)] { #expect(shot.pixel(x, y).isNear(.blue)) }
    }

    @Test func tilesAreRepeatedAtTheirSize() async throws {
        let url = fixture.route("/a.png", PNGFixture.data(.quadrants(width: 20, height: 20)))
        let view = describe(url).resizable(resizingMode: .tile).makeView()
        let shot = await loaded(view).screenshot()
        for offset in stride(from: 0, to: 100, by: 20) {
            #expect(shot.pixel(offset + 5, offset + 5) == .red)
            #expect(shot.pixel(offset + 15, 5) == .green)
            #expect(shot.pixel(offset + 15, offset + 15) == .white)
        }
    }

    @Test func aTemplateIsSeenInTheColourOfTheText() async throws {
        let grid = PixelGrid(width: 20, height: 20) { x, _ in x < 10 ? .clear : .red }
        let view = describe(fixture.route("/a.png", PNGFixture.data(grid)))
            .resizable().renderingMode(.template).makeView()
        let window = await loaded(view)
        let color = view.imageView.textColor
        let shot = await window.screenshot()
        func byte(_ value: CGFloat) -> UInt8 { UInt8((value * 255).rounded()) }
        #expect(shot.pixel(5, 50).alpha == 0)
        #expect(
            shot.pixel(90, 50).isNear(
                Pixel(byte(color.red), byte(color.green), byte(color.blue), byte(color.alpha))))
    }

    // MARK: Animation

    @Test func anAnimatedImageIsPlayedWhileItIsOnTheScreen() async throws {
        let url = fixture.route("/a.gif", gif([.red, .blue]))
        let view = describe(url, as: KFAnimatedImage.self)
            .configure { [ticker] in ($0 as? AnimatedImageView)?.frameTicker = ticker }
            .makeView()
        let window = await loaded(view)
        let player = try #require(view.imageView as? AnimatedImageView)
        await window.frames {
            ticker.advance(by: .milliseconds(100))
            return player.animator?.currentFrameIndex == 1
        }
        #expect(await window.screenshot().pixel(50, 50) == .blue)
        view.isHidden = true
        #expect(ticker.subscriberCount == 0)
    }
}

/// A green view with another one in it, ten points smaller on each side.
@MainActor private final class FramedView: Canvas {
    private var content: View?

    func around(_ view: any KFCrossPlatformImageView) -> FramedView {
        if let view = view as? ImageView {
            content = view
            gtk_widget_set_parent(view.widget, widget)
        }
        return self
    }

    override func draw(in snapshot: Snapshot) {
        snapshot.fill(CGRect(origin: .zero, size: size), with: .green)
        super.draw(in: snapshot)
    }

    override func layout(size: CGSize) {
        guard let content else { return }
        var origin = graphene_point_t(x: 10, y: 10)
        gtk_widget_allocate(
            content.widget, gint(size.width) - 20, gint(size.height) - 20, -1,
            gsk_transform_translate(nil, &origin))
    }
}

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct InterpolationTests {
    /// A fine checkerboard, from which linear sampling of every tenth pixel makes stripes or nothing.
    private let fine = image(.checkerboard(width: 100, height: 100))

    private func style(_ interpolation: KFImage.Interpolation) -> KFImage.Rendering {
        var style = KFImage.Rendering()
        style.resizing = KFImage.Resizing()
        style.interpolation = interpolation
        return style
    }

    @Test func pixelsStaySquares() async {
        let view = StyledImageView()
        view.style = style(.none)
        view.image = image(.quadrants(width: 2, height: 2))
        let window = await TestWindow(view, width: 40, height: 40)
        let expected = bitmap(.quadrants(width: 40, height: 40))
        let shot = await window.screenshot { $0.isEqual(to: expected) }
        #expect(shot.isEqual(to: expected))
    }

    @Test func aSmallPlaceShowsTheMeanOfAllPixels() async {
        let view = StyledImageView()
        view.style = style(.high)
        view.image = fine
        let window = await TestWindow(view, width: 10, height: 10)
        func isGray(_ shot: Bitmap) -> Bool {
            (1..<9).allSatisfy { x in
                (1..<9).allSatisfy { y in
                    (100...210).contains(shot.pixel(x, y).red) && shot.pixel(x, y).alpha == 255
                }
            }
        }
        #expect(isGray(await window.screenshot(when: isGray)))
    }

    @Test func nearestPixelsAreThoseUnderTheMiddle() throws {
        let three = bitmap(PixelGrid(width: 3, height: 1) { x, _ in [.red, .green, .blue][x] })
        let two = try #require(three.nearest(PixelSize(width: 2, height: 2)))
        // The middles are at ¼ and ¾ of the width.
        #expect((0..<2).allSatisfy { two.pixel(0, $0) == .red && two.pixel(1, $0) == .blue })
        let six = try #require(three.nearest(PixelSize(width: 6, height: 1)))
        #expect((0..<6).map { six.pixel($0, 0) } == [.red, .red, .green, .green, .blue, .blue])
    }
}
