/// The transformation of a picture from stored to displayed: mirrored left to right or not, and
/// then rotated by quarters.
package struct Turn: Sendable, Hashable {
    package private(set) var isMirrored: Bool
    /// Clockwise, after mirroring: 0…3.
    package private(set) var quarters: Int

    /// - Parameter orientation: Of EXIF; values other than 1…8 change nothing.
    package init(orientation: Int) {
        (isMirrored, quarters) = Self.turns[(1...8).contains(orientation) ? orientation - 1 : 0]
    }

    /// By the EXIF orientations from 1 on.
    private static let turns = [
        (false, 0), (true, 0), (false, 2), (true, 2), (true, 3), (false, 1), (true, 1), (false, 3),
    ]

    /// The turn by the EXIF orientation, followed by that of the options.
    package init(orientation: Int, options: ProcessingOptions) {
        self.init(orientation: options.autoRotate ? orientation : 1)
        rotate(quarters: options.rotation / 90)
        if options.flipHorizontally { mirror() }
        if options.flipVertically {
            mirror()
            rotate(quarters: 2)
        }
    }

    package mutating func rotate(quarters more: Int) { quarters = ((quarters + more) % 4 + 4) % 4 }

    /// Exchanges left and right, in addition.
    package mutating func mirror() {
        // Mirroring after a turn is turning the other way after mirroring.
        isMirrored.toggle()
        quarters = (4 - quarters) % 4
    }

    package var orientation: Int {
        Self.turns.firstIndex { $0 == (isMirrored, quarters) }.map { $0 + 1 } ?? 1
    }

    package var exchangesSides: Bool { !quarters.isMultiple(of: 2) }

    /// The size after the turn, and the other way round.
    package func turned(_ size: Dimensions) -> Dimensions {
        exchangesSides ? size.transposed : size
    }

    /// The region of the stored picture that becomes a region of the turned one.
    package func stored(_ region: Region, in stored: Dimensions) -> Region {
        var size = turned(stored)
        var region = region
        for _ in 0..<(4 - quarters) % 4 {
            // A quarter clockwise.
            region = Region(
                x: size.height - region.origin.y - region.size.height, y: region.origin.x,
                width: region.size.height, height: region.size.width)
            size = size.transposed
        }
        if isMirrored { region.origin.x = size.width - region.origin.x - region.size.width }
        return region
    }
}
