import Halcyon
import HalcyonWork

/// Where everything is on a contact sheet: a title, and sections of tiles in rows of equal length.
struct ContactSheetLayout: Equatable {
    struct Rectangle: Equatable {
        var left: Int
        var top: Int
        var width: Int
        var height: Int

        var right: Int { left + width }
        var bottom: Int { top + height }
    }

    struct Section: Equatable {
        var headingBaseline: Int
        var tiles: [Rectangle]
    }

    static let margin = 56
    static let gap = 24
    static let tileWidth = 248
    static let pictureHeight = 176
    /// Between a tile's edge and its picture.
    static let inset = 12
    static let lineHeight = 19
    static let linesPerLabel = 3
    static let titleHeight = 92
    static let headingHeight = 52

    static let tileHeight = inset + pictureHeight + 10 + linesPerLabel * lineHeight + inset

    let width: Int
    let height: Int
    let sections: [Section]

    /// The layout of sections with these numbers of tiles, `columns` in a row.
    init(tileCounts: [Int], columns: Int) {
        var top = Self.margin + Self.titleHeight
        var sections: [Section] = []
        for count in tileCounts {
            let baseline = top + 30
            top += Self.headingHeight
            let tiles = (0..<count).map { index in
                Rectangle(
                    left: Self.margin + index % columns * (Self.tileWidth + Self.gap),
                    top: top + index / columns * (Self.tileHeight + Self.gap),
                    width: Self.tileWidth, height: Self.tileHeight)
            }
            let rows = (count + columns - 1) / columns
            top += rows * (Self.tileHeight + Self.gap)
            sections.append(Section(headingBaseline: baseline, tiles: tiles))
        }
        self.sections = sections
        width = 2 * Self.margin + columns * Self.tileWidth + (columns - 1) * Self.gap
        height = top - Self.gap + Self.margin
    }

    static var pictureSize: PixelSize {
        PixelSize(width: tileWidth - 2 * inset, height: pictureHeight)
    }

    /// Where a picture of `size` stands in a tile: in the middle of the room for pictures.
    static func place(_ size: PixelSize, in tile: Rectangle) -> (left: Int, top: Int) {
        (
            tile.left + (tile.width - size.width) / 2,
            tile.top + inset + (pictureHeight - size.height) / 2
        )
    }

    /// The base line of a line of the label, counted from 0.
    static func baseline(ofLine line: Int, in tile: Rectangle) -> Int {
        tile.top + inset + pictureHeight + 10 + 15 + line * lineHeight
    }

    static var charactersPerLine: Int {
        Int(Double(tileWidth - 2 * inset) / (SheetText.labelSize * SheetText.advance))
    }
}

enum SheetText {
    /// In pixels.
    static let labelSize = 12.5
    /// The width of a character of DejaVu Sans Mono, in sizes.
    static let advance = 0.602
    static let monospaced = "DejaVu Sans Mono, monospace"
    static let proportional = "DejaVu Sans, sans-serif"

    /// `text` with everything replaced that means something to XML or may not stand in it.
    static func escaped(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar {
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{FFFE}", "\u{FFFF}": "\u{FFFD}"
            default: scalar
            }
        }
        return XMLEscaping.escape(String(String.UnicodeScalarView(scalars)), apostrophe: "&#39;")
    }
}
