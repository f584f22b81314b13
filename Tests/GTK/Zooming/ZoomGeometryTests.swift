import Foundation
import Testing

@testable import HalcyonGTK

struct ZoomGeometryTests {
    /// A picture of 4000 × 2000 pixels in a view of 1000 × 800.
    private var geometry: ZoomGeometry {
        var geometry = ZoomGeometry()
        geometry.resize(CGSize(width: 1000, height: 800))
        geometry.show(CGSize(width: 4000, height: 2000))
        return geometry
    }

    @Test func theWholePictureIsShownInTheMiddle() {
        #expect(geometry.zoom == 0.25 && geometry.isFitted)
        #expect(geometry.rect == CGRect(x: 0, y: 150, width: 1000, height: 500))
        #expect(geometry.visible == CGRect(x: 0, y: 0, width: 4000, height: 2000))
    }

    @Test func aSmallPictureIsNotEnlarged() {
        var geometry = geometry
        geometry.show(CGSize(width: 100, height: 50))
        #expect(geometry.zoom == 1 && geometry.isFitted)
        #expect(geometry.rect == CGRect(x: 450, y: 375, width: 100, height: 50))
    }

    @Test func thePointUnderThePointerStays() {
        var geometry = geometry
        // The picture's pixel (1000, 1000).
        geometry.zoom(to: 1, around: CGPoint(x: 250, y: 400))
        #expect(geometry.zoom == 1 && !geometry.isFitted)
        #expect(geometry.rect.origin == CGPoint(x: -750, y: -600))
        #expect(geometry.visible == CGRect(x: 750, y: 600, width: 1000, height: 800))
    }

    @Test func thePictureDoesNotLeaveTheView() {
        var geometry = geometry
        geometry.zoom(to: 1, around: .zero)
        #expect(geometry.visible.origin == .zero)
        geometry.pan(x: -50, y: -50)
        #expect(geometry.visible.origin == .zero)
        geometry.pan(x: 1e6, y: 1e6)
        #expect(geometry.visible.origin == CGPoint(x: 3000, y: 1200))
        geometry.pan(x: -100, y: 0)
        #expect(geometry.visible.origin == CGPoint(x: 2900, y: 1200))
    }

    @Test func theZoomHasBounds() {
        var geometry = geometry
        geometry.zoom(to: 1000)
        #expect(geometry.zoom == 32)
        geometry.zoom(to: 0.001)
        #expect(geometry.zoom == 0.25 && geometry.isFitted)
        geometry.zoom(to: .nan)
        #expect(geometry.zoom == 0.25)
    }

    @Test func aFittedPictureFollowsTheSizeOfTheView() {
        var geometry = geometry
        geometry.resize(CGSize(width: 2000, height: 2000))
        #expect(geometry.zoom == 0.5)
        geometry.zoom(to: 1)
        geometry.resize(CGSize(width: 500, height: 500))
        #expect(geometry.zoom == 1 && geometry.visible.size == CGSize(width: 500, height: 500))
    }

    // MARK: Tiles

    @Test func tilesAreAsSharpAsTheScreen() {
        var geometry = geometry
        for (zoom, factor) in [(0.25, 4), (0.3, 2), (0.5, 2), (0.7, 1), (1, 1), (8, 1)] {
            geometry.zoom(to: zoom)
            #expect(ZoomTile.factor(for: geometry, atMost: 1000) == factor)
        }
    }

    @Test func fewerTilesAreLessSharp() {
        var geometry = geometry
        geometry.zoom(to: 1)
        #expect(ZoomTile.tiles(of: geometry, factor: 1).count == 6)
        #expect(ZoomTile.factor(for: geometry, atMost: 6) == 1)
        #expect(ZoomTile.factor(for: geometry, atMost: 5) == 2)
        #expect(ZoomTile.factor(for: geometry, atMost: 0) > 2)
    }

    @Test func onlyTilesThatAreSeenAreWanted() {
        var geometry = geometry
        geometry.zoom(to: 1, around: .zero)
        let seen = ZoomTile.tiles(of: geometry, factor: 1)
        #expect(seen.map(\.column) == [0, 1, 0, 1] && seen.map(\.row) == [0, 0, 1, 1])
        #expect(ZoomTile.tiles(of: geometry, factor: 1, margin: 1).count == 9)
        geometry.pan(x: 1e6, y: 1e6)
        let last = ZoomTile.tiles(of: geometry, factor: 1)
        #expect(last.map(\.column).max() == 7 && last.map(\.row).max() == 3)
        let corner = ZoomTile(factor: 1, column: 7, row: 3).rect(in: geometry.picture)
        #expect(corner == CGRect(x: 3584, y: 1536, width: 416, height: 464))
        #expect(ZoomTile.bounds(of: seen)?.columns == 0...1 && ZoomTile.bounds(of: [])?.rows == nil)
    }

    @Test func withoutPictureOrViewNothingIsWanted() {
        #expect(ZoomTile.tiles(of: ZoomGeometry(), factor: 1).isEmpty)
        #expect(ZoomTile.factor(for: ZoomGeometry(), atMost: 1) == 1)
    }
}
