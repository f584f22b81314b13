import CGtk4
import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

/// A square that turns over, seen from twice its width: by 45° the near edge is at cos 45° of half the
/// width; the far one is √½ of the width behind it, and so is seen at 2 / (2 + √½) of that, and of the
/// height.
@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable)) struct FlipTests
{
    private let ticker = ManualFrameTicker()

    /// The turned square in 100 × 100 pixels, as if it came from the left: (visible, not visible).
    private let seen = [(16, 3), (16, 96), (30, 6), (50, 50), (74, 15), (74, 84)]
    private let unseen = [(12, 50), (78, 50), (30, 1), (30, 98), (74, 10), (74, 89)]

    /// The place on a square that comes from `edge` of a place on one that comes from the left.
    private func place(_ point: (Int, Int), from edge: FlipEdge) -> (Int, Int) {
        switch edge {
        case .left: point
        case .right: (99 - point.0, point.1)
        case .top: (point.1, point.0)
        case .bottom: (point.1, 99 - point.0)
        }
    }

    private func transition(_ edge: FlipEdge) -> (ImageTransition, FlipEdge) {
        switch edge {
        case .left: (.flipFromLeft(1), .right)
        case .right: (.flipFromRight(1), .left)
        case .top: (.flipFromTop(1), .bottom)
        case .bottom: (.flipFromBottom(1), .top)
        }
    }

    /// A view of 100 × 100 that shows a red square, or nothing.
    private func shown(isRed: Bool = true) async -> (ImageView, TestWindow) {
        let red = image(.solid(.red, width: 10, height: 10))
        let view = stretched(isRed ? red : nil, ticker: ticker)
        return (view, await TestWindow(view, width: 100, height: 100))
    }

    private func expect(
        _ shot: Bitmap, turned edge: FlipEdge, _ color: Pixel,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for point in seen {
            let (x, y) = place(point, from: edge)
            #expect(shot.pixel(x, y).isNear(color), "\(x), \(y)", sourceLocation: sourceLocation)
        }
        for point in unseen {
            let (x, y) = place(point, from: edge)
            #expect(shot.pixel(x, y).alpha == 0, "\(x), \(y)", sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: FlipEdge.allCases)
    func aFlipShowsTheOldImageThenNothingThenTheNewOne(_ edge: FlipEdge) async {
        let (view, window) = await shown()
        let ends = Recorder<Bool>()
        let (transition, opposite) = transition(edge)
        let options = transition.animationOptions.union(.curveLinear)
        let blue = image(.solid(.blue, width: 10, height: 10))
        view.animate(
            .custom(duration: 1, options: options, animations: nil, completion: nil)
        ) {
            view.image = blue
        } completion: {
            ends.record($0)
        }
        ticker.advance(by: .zero)
        #expect(await window.screenshot().visiblePixelCount == 10_000)
        #expect(await window.screenshot().pixel(0, 0) == .red)

        ticker.advance(by: .milliseconds(250))
        expect(await window.screenshot(), turned: edge, .red)
        ticker.advance(by: .milliseconds(250))
        #expect(await window.screenshot().visiblePixelCount == 0)
        ticker.advance(by: .milliseconds(250))
        expect(await window.screenshot(), turned: opposite, .blue)

        ticker.advance(by: .milliseconds(250))
        let end = await window.screenshot()
        #expect(end.visiblePixelCount == 10_000 && end.pixel(99, 99) == .blue)
        #expect(ends.events == [true])
    }

    @Test func aFlipOfDefaultSpeedIsOnEdgeInTheMiddle() async {
        let (view, window) = await shown()
        view.animate(.flipFromLeft(1)) {
            view.image = image(.solid(.blue, width: 10, height: 10))
        } completion: { _ in
        }
        ticker.advance(by: .zero)
        ticker.advance(by: .milliseconds(500))
        // Nothing, or a line.
        #expect(await window.screenshot().visiblePixelCount <= 200)
    }

    @Test func theNewImageIsNotMirrored() async {
        let (view, window) = await shown(isRed: false)
        view.animate(.flipFromRight(1)) {
            view.image = image(.quadrants(width: 10, height: 10))
        } completion: { _ in
        }
        ticker.advance(by: .zero)
        ticker.advance(by: .milliseconds(250))
        #expect(await window.screenshot().visiblePixelCount == 0)
        ticker.advance(by: .milliseconds(500))
        let shot = await window.screenshot()
        #expect(shot.pixel(40, 30).isNear(.red) && shot.pixel(60, 30).isNear(.green))
        #expect(shot.pixel(40, 70).isNear(.blue) && shot.pixel(60, 70).isNear(.white))
    }

    /// The graphics processor turns in three dimensions what the processor draws in strips.
    @Test(arguments: FlipEdge.allCases)
    func theGraphicsProcessorShowsTheSame(_ edge: FlipEdge) async throws {
        let window = await TestWindow(ImageView(), width: 100, height: 100)
        // Not every machine has OpenGL.
        guard let gl = window.makeRenderer(.gl) else { return }
        defer { withExtendedLifetime((gl, window)) {} }
        let size = CGSize(width: 100, height: 100)
        let content = try #require(
            RenderNode.recording { $0.fill(CGRect(origin: .zero, size: size), with: .red) })
        let turned = try #require(
            RenderNode.recording {
                $0.drawTurned(
                    content, degrees: 45, edge: edge, size: size, scaleFactor: 1,
                    renderer: gl.pointer)
            })
        let texture = try #require(turned.texture(size, scaleFactor: 1, renderer: gl.pointer))
        let shot = try #require(
            Bitmap(downloading: texture.pointer, size: PixelSize(width: 100, height: 100)))
        expect(shot, turned: edge, .red)
    }
}
