import Foundation
import Halcyon
import Vips

/// A picture of many pictures: tiles with a label each, in sections.
struct ContactSheet {
    struct Tile: Sendable {
        let image: Image
        /// At most `ContactSheetLayout.linesPerLabel`; the first one is the name.
        let label: [String]
    }

    struct Section: Sendable {
        let title: String
        let tiles: [Tile]
    }

    let title: String
    let subtitle: String
    let sections: [Section]
    let columns: Int

    func png() throws -> Data {
        let layout = ContactSheetLayout(tileCounts: sections.map(\.tiles.count), columns: columns)
        var canvas = try VipsImage.load("svgload_buffer", bytes: Data(drawing(layout).utf8))
            .flattened(background: [0]).convertedToSRGB()
        for (section, places) in zip(sections, layout.sections) {
            for (tile, place) in zip(section.tiles, places.tiles) {
                let picture = try picture(of: tile.image)
                let size = PixelSize(width: picture.width, height: picture.height)
                let corner = ContactSheetLayout.place(size, in: place)
                canvas = try canvas.apply(
                    "insert",
                    [
                        "sub": .image(picture), "x": .int(corner.left), "y": .int(corner.top),
                    ])
            }
        }
        return try canvas.encoded("pngsave_buffer", ["compression": 6])
    }

    private func picture(of image: Image) throws -> VipsImage {
        let room = ContactSheetLayout.pictureSize
        let size = CGSize(width: room.width, height: room.height)
        let fitted =
            ResizingImageProcessor(referenceSize: size, mode: .aspectFit)
            |> RoundCornerImageProcessor(cornerRadius: 8)
        let options = KingfisherParsedOptionsInfo(nil)
        guard let result = fitted.process(item: .image(image), options: options) else {
            throw CommandFailure(description: "A picture of the contact sheet could not be drawn.")
        }
        let bitmap = try result.withEightBits().bitmap()
        let pixels = bitmap.data as NSData
        return try VipsImage.memory(
            pixels.bytes, count: pixels.length, owner: pixels, width: bitmap.size.width,
            height: bitmap.size.height, bands: bitmap.channels, format: .uchar,
            interpretation: .srgb
        ).flattened(background: Palette.tileComponents)
    }

    private func drawing(_ layout: ContactSheetLayout) -> String {
        var svg = """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(layout.width)" \
            height="\(layout.height)" viewBox="0 0 \(layout.width) \(layout.height)">
            <rect width="100%" height="100%" fill="\(Palette.background)"/>

            """
        let left = ContactSheetLayout.margin
        svg += text(
            title, left, ContactSheetLayout.margin + 34, size: 38, Palette.title, weight: "bold")
        svg += text(subtitle, left, ContactSheetLayout.margin + 68, size: 17, Palette.faint)
        for (section, places) in zip(sections, layout.sections) {
            svg += text(
                section.title, left, places.headingBaseline, size: 19, Palette.accent,
                weight: "bold")
            for (tile, place) in zip(section.tiles, places.tiles) {
                svg += drawing(of: tile, in: place)
            }
        }
        return svg + "</svg>\n"
    }

    private func drawing(of tile: Tile, in place: ContactSheetLayout.Rectangle) -> String {
        var svg = """
            <rect x="\(place.left)" y="\(place.top)" width="\(place.width)" \
            height="\(place.height)" rx="14" fill="\(Palette.tile)"/>

            """
        for (index, line) in tile.label.prefix(ContactSheetLayout.linesPerLabel).enumerated() {
            svg += text(
                line.shortened(to: ContactSheetLayout.charactersPerLine),
                place.left + ContactSheetLayout.inset,
                ContactSheetLayout.baseline(ofLine: index, in: place), size: SheetText.labelSize,
                index == 0 ? Palette.title : Palette.faint, family: SheetText.monospaced,
                weight: index == 0 ? "bold" : "normal")
        }
        return svg
    }

    private func text(
        _ text: String, _ x: Int, _ y: Int, size: Double, _ colour: String,
        family: String = SheetText.proportional, weight: String = "normal"
    ) -> String {
        """
        <text x="\(x)" y="\(y)" font-family="\(family)" font-size="\(size)" \
        font-weight="\(weight)" fill="\(colour)" xml:space="preserve">\
        \(SheetText.escaped(text))</text>

        """
    }

    private enum Palette {
        static let background = "#12171c"
        static let tile = "#1f272f"
        static let tileComponents: [Double] = [0x1F, 0x27, 0x2F]
        static let title = "#f2f5f7"
        static let faint = "#9fb0bd"
        static let accent = "#4fc3d9"
    }
}
