import HalcyonTestKit
import Testing

@testable import HalcyonServerURLs

/// Sizes and places.
struct GeometryTests {
    static let china = Dimensions(width: 640, height: 427)

    private func options(_ segments: String) throws -> ProcessingOptions {
        let path = segments.isEmpty ? "/plain/a" : "/\(segments)/plain/a"
        return try PlanParser().parse(path: path).options
    }

    private func geometry(
        _ segments: String, source: Dimensions = china, orientation: Int = 1, limit: Int? = nil
    ) throws -> Geometry {
        Geometry(
            source: source, orientation: orientation, options: try options(segments), limit: limit)
    }

    @Test(arguments: [
        ("", 640, 427), ("rs:fit:300:300", 300, 200), ("rs:fit:0:100", 150, 100),
        ("w:100", 100, 67), ("rs:fit:1000:1000", 640, 427), ("rs:fit:1000:1000:1", 1000, 667),
        ("rs:fill:300:300", 300, 300), ("rs:fill:800:200", 640, 200),
        ("rs:fill:800:200:1", 800, 200), ("rs:fill-down:800:200", 640, 160),
        ("rs:fill-down:1000:1000", 427, 427), ("rs:force:300:300", 300, 300),
        ("rs:force:300:0", 300, 427), ("rs:force:1000:200", 640, 128),
        ("rs:auto:300:100", 300, 100), ("rs:auto:100:300", 100, 67),
        ("rs:fit:300:300/dpr:2", 600, 400), ("rs:fit:300:300/dpr:4", 640, 427),
        ("rs:fit:300:300/z:0.5", 150, 100), ("z:0.5:1", 320, 427),
        ("rs:fit:300:300:0:1", 300, 300), ("rs:fit:1000:1000:0:1", 1000, 1000),
        ("rs:fit:1000:500/exar:1", 854, 427), ("rs:fit:300:300/exar:1", 300, 300),
        ("rs:fit:300:300/pd:10:20", 340, 220), ("rs:fit:300:300/pd:10/dpr:2", 640, 440),
        ("c:200:100", 200, 100), ("c:0.5:0.5/w:100", 100, 67), ("c:2000:100", 640, 100),
        ("rs:fit:300:300/rot:90", 200, 300), ("w:100/mw:200", 100, 133), ("h:100/mh:200", 300, 100),
        ("rs:fit:1000:1000:0:1/dpr:0.5", 500, 500), ("rs:fit:1000:1000/dpr:0.5", 500, 334),
        ("w:100/pd:5/dpr:0.5", 54, 37), ("w:100/pd:7/dpr:0.5", 58, 41),
    ])
    func aResultHasItsSize(segments: String, width: Int, height: Int) throws {
        #expect(try geometry(segments).result == Dimensions(width: width, height: height))
    }

    @Test(arguments: [
        ("", 320, 320, 214), ("rs:fill:1000:1000:1", 500, 500, 500),
        ("rs:fit:300:300:0:1/pd:50", 200, 200, 200),
    ])
    func aLimitScalesTheResultDown(segments: String, limit: Int, width: Int, height: Int) throws {
        let result = try geometry(segments, limit: limit).result
        #expect(result == Dimensions(width: width, height: height))
    }

    @Test(arguments: [
        "w:2147483647/el:1", "pd:1000000", "z:100000/el:1", "rs:fit:1000000:1000000:0:1",
        "rs:force:2147483647:1:1", "z:1000000:0.0000001/el:1/dpr:8", "mw:2147483647",
        "rs:fit:2147483647:1/exar:1", "pd:0:2147483647:3:2147483647",
        "rs:fill:2147483647:2147483647:1:1/pd:2147483647/dpr:8/z:1000000", "dpr:0.000000001",
        "c:0.0000001:1e300",
    ])
    func whateverIsWishedTheLimitHolds(segments: String) throws {
        for limit in [1, 7, 8192] {
            let geometry = try geometry(segments, limit: limit)
            #expect(geometry.result.longerSide <= limit, "\(geometry.result)")
            #expect(geometry.result.width >= 1 && geometry.result.height >= 1)
        }
        let free = try geometry(segments)
        #expect(free.scaled.width >= 1 && free.scaled.height >= 1)
    }

    @Test(arguments: [
        (200, 100, "ce", 220, 164), (200, 100, "no", 220, 0), (200, 100, "soea", 440, 327),
        (200, 100, "nowe:10:20", 10, 20), (200, 100, "soea:10:20", 430, 307),
        (200, 100, "ce:0.1:0", 284, 164), (200, 100, "ce:-40:0", 180, 164),
        (200, 100, "ea:0.1:0", 376, 164), (200, 100, "fp:0.25:0.75", 60, 270),
        (200, 100, "fp:0:0", 0, 0), (201, 101, "ce", 220, 164), (201, 101, "soea", 439, 326),
        (201, 101, "ea:0.1:0", 375, 164), (200, 100, "we", 0, 164), (200, 100, "noea", 440, 0),
        (200, 100, "sowe", 0, 327), (200, 100, "so", 220, 327), (200, 100, "fp:1:1", 440, 327),
        (200, 100, "ce:1000:-1000", 440, 0), (640, 427, "ce:5:5", 0, 0),
    ])
    func aPartLiesWhereItsGravitySays(
        width: Int, height: Int, gravity: String, x: Int, y: Int
    ) throws {
        let position = Placement.position(
            of: Dimensions(width: width, height: height), in: Self.china,
            gravity: try options("g:" + gravity).gravity)
        #expect(position == Position(x: x, y: y))
    }

    @Test func theInterestingPartIsFoundInThePixels() throws {
        #expect(
            Placement.position(
                of: Dimensions(width: 1, height: 1), in: Self.china, gravity: .smart) == nil)
        let cut = try #require(try geometry("rs:fill:300:300/g:sm").cut)
        #expect(cut.size == Dimensions(width: 300, height: 300) && cut.position == nil)
    }

    @Test func offsetsOfTheCutAreMultipliedByDprAndThoseOfTheCropAreNot() throws {
        let cut = try geometry("rs:fill:100:100/g:nowe:10:0/dpr:2").cut
        #expect(cut?.position == Position(x: 20, y: 0))
    }

    /// A crop has the gravity of the result unless it has its own.
    @Test(arguments: [
        ("c:100:100:nowe:10:5/dpr:2", 10, 5), ("c:100:100/g:soea", 540, 327),
        ("c:100:100:nowe/g:soea", 0, 0),
    ])
    func aCropLiesWhereItsGravitySays(segments: String, x: Int, y: Int) throws {
        let crop = try geometry(segments).crop
        #expect(crop?.position == Position(x: x, y: y))
        #expect(crop?.size == Dimensions(width: 100, height: 100))
    }

    @Test func theStepsLeadFromTheSourceToTheResult() throws {
        let geometry = try geometry("c:600:400:nowe/rs:fill:300:300:0:1/exar:1/pd:5")
        #expect(geometry.picture == Self.china)
        #expect(geometry.crop?.size == Dimensions(width: 600, height: 400))
        #expect(geometry.scaled == Dimensions(width: 450, height: 300))
        #expect(geometry.cut?.size == Dimensions(width: 300, height: 300))
        #expect(geometry.canvases.isEmpty)
        #expect(geometry.padding == .init(top: 5, right: 5, bottom: 5, left: 5))
        #expect(geometry.result == Dimensions(width: 310, height: 310))
    }

    @Test func aCanvasHasThePictureWhereItsGravitySays() throws {
        let plain = try geometry("rs:fit:300:300:0:1").canvases
        #expect(plain.count == 1)
        #expect(plain.first?.size == Dimensions(width: 300, height: 300))
        #expect(plain.first?.position == Position(x: 0, y: 50))
        let south = try geometry("rs:fit:300:300/ex:1:so:0:10/dpr:2").canvases
        #expect(south.first?.position == Position(x: 0, y: 180))
        let proportions = try geometry("rs:fit:1000:500/exar:1:ea").canvases
        #expect(proportions.first?.position == Position(x: 214, y: 0))
    }

    @Test func whatIsNotEnlargedHasFewerPixelsThanItsDprSays() throws {
        #expect(try geometry("rs:fit:300:300/dpr:2").scale == 2)
        let small = try geometry("rs:fit:300:300/dpr:4/pd:30")
        #expect(abs(small.scale - 640.0 / 300) < 1e-9)
        #expect(small.padding.top == 64)
    }

    @Test func aVectorPictureIsEnlargedAtWill() throws {
        let geometry = Geometry(source: Self.china, options: try options("w:1280"), isVector: true)
        #expect(geometry.result == Dimensions(width: 1280, height: 854))
    }

    @Test func sizesReferToThePictureAsSeen() throws {
        let geometry = try geometry("rs:fit:300:300", orientation: 6)
        #expect(geometry.picture == Dimensions(width: 427, height: 640))
        #expect(geometry.result == Dimensions(width: 200, height: 300))
        let stored = try self.geometry("rs:fit:300:300/ar:0", orientation: 6)
        #expect(stored.result == Dimensions(width: 300, height: 200))
    }

    // MARK: Watermarks

    @Test func aWatermarkLiesOnThePictureWithAtLeastOnePixel() {
        let mark = Dimensions(width: 100, height: 50)
        func position(_ anchor: Gravity.Anchor, _ x: Double, _ y: Double) -> Position {
            Placement.position(
                ofWatermark: mark, on: Self.china, anchor: anchor, x: x, y: y, scale: 1)
        }
        #expect(position(.southEast, 10, 10) == Position(x: 530, y: 367))
        #expect(position(.northWest, -50, -20) == Position(x: -50, y: -20))
        #expect(position(.northWest, -5000, 5000) == Position(x: -99, y: 426))
    }

    @Test func aWatermarkIsFittedIntoItsShare() {
        let mark = Dimensions(width: 100, height: 50)
        func size(_ scale: Double) -> Dimensions {
            Placement.size(ofWatermark: mark, on: Self.china, scale: scale)
        }
        #expect(size(0) == mark && size(0.5) == Dimensions(width: 320, height: 160))
        #expect(size(0.0001) == Dimensions(width: 1, height: 1))
        let high = Placement.size(ofWatermark: mark.transposed, on: Self.china, scale: 0.5)
        #expect(high == Dimensions(width: 107, height: 214))
    }

    // MARK: Whatever is asked for

    /// Parts lie inside of what they are parts of, and what lies on a canvas lies on it as a whole.
    @Test(arguments: 0..<8) func everyPlaceIsInside(seed: UInt64) throws {
        var numbers = SeededGenerator(state: seed)
        func pick(_ texts: String...) -> String { texts.randomElement(using: &numbers) ?? "" }
        func side() -> Int {
            let most = [3, 50, 700, 9000].randomElement(using: &numbers) ?? 1
            return Int.random(in: 1...most, using: &numbers)
        }
        for _ in 0..<400 {
            let type = pick("fit", "fill", "fill-down", "force", "auto")
            let place = pick(
                "ce", "no:3:9", "soea:-7:0.3", "we:5000:1", "fp:0.9:0.1", "nowe:0.5:0.5")
            let segments = [
                "rs:\(type):\(pick("0", "\(side())")):\(pick("0", "\(side())"))",
                pick("el:1", "el:0"), pick("ex:1:\(place)", "ex:0"),
                pick("exar:1:\(place)", "exar:0"),
                "g:\(place)", pick("c:\(side()):\(side())", "c:0.3:\(side()):\(place)", "c:0:0"),
                pick("pd:\(side()):3", "pd:0"), pick("dpr:1", "dpr:0.3", "dpr:7.7"),
                pick("z:1", "z:0.01:3"), pick("mw:\(side())", "mh:\(side())", "mw:0"),
                pick("rot:90", "rot:0"),
            ].joined(separator: "/")
            let limit = Bool.random(using: &numbers) ? side() : nil
            let geometry = try geometry(
                segments, source: Dimensions(width: side(), height: side()),
                orientation: Int.random(in: 1...8, using: &numbers), limit: limit)
            let used = geometry.crop?.size ?? geometry.picture
            expectInside(geometry.crop, geometry.picture, segments)
            expectInside(geometry.cut, geometry.scaled, segments)
            var size = geometry.cut?.size ?? geometry.scaled
            for canvas in geometry.canvases {
                #expect(canvas.position.x >= 0 && canvas.position.y >= 0, "\(segments)")
                #expect(canvas.position.x + size.width <= canvas.size.width, "\(segments)")
                #expect(canvas.position.y + size.height <= canvas.size.height, "\(segments)")
                size = canvas.size
            }
            #expect(used.width >= 1 && used.height >= 1 && size.width >= 1 && size.height >= 1)
            if let limit { #expect(geometry.result.longerSide <= limit, "\(segments)") }
        }
    }

    private func expectInside(_ window: Geometry.Window?, _ outer: Dimensions, _ segments: String) {
        guard let window, let position = window.position else { return }
        #expect(window.size.width >= 1 && window.size.height >= 1, "\(segments)")
        #expect(position.x >= 0 && position.x + window.size.width <= outer.width, "\(segments)")
        #expect(position.y >= 0 && position.y + window.size.height <= outer.height, "\(segments)")
    }
}
