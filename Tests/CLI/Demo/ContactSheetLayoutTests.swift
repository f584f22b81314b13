import Halcyon
import Testing

@testable import HalcyonCLI

struct ContactSheetLayoutTests {
    private let layout = ContactSheetLayout(tileCounts: [16, 3], columns: 8)

    @Test func tilesStandApartByTheGap() {
        for section in layout.sections {
            for (index, tile) in section.tiles.enumerated() where index % 8 > 0 {
                #expect(tile.left - section.tiles[index - 1].right == ContactSheetLayout.gap)
            }
            for (index, tile) in section.tiles.enumerated() where index >= 8 {
                #expect(tile.top - section.tiles[index - 8].bottom == ContactSheetLayout.gap)
                #expect(tile.left == section.tiles[index - 8].left)
            }
        }
    }

    @Test func theMarginsAreEqual() throws {
        let tiles = layout.sections.flatMap(\.tiles)
        #expect(tiles.map(\.left).min() == ContactSheetLayout.margin)
        #expect(tiles.map(\.right).max() == layout.width - ContactSheetLayout.margin)
        #expect(tiles.map(\.bottom).max() == layout.height - ContactSheetLayout.margin)
    }

    @Test func sectionsDoNotOverlap() throws {
        let bottom = try #require(layout.sections[0].tiles.map(\.bottom).max())
        let top = try #require(layout.sections[1].tiles.map(\.top).min())
        let heading = layout.sections[1].headingBaseline
        #expect(bottom < heading && heading < top)
    }

    @Test(arguments: [(224, 176), (100, 50), (1, 176)])
    func aPictureStandsInTheMiddleOfItsTile(width: Int, height: Int) {
        let tile = layout.sections[0].tiles[3]
        let place = ContactSheetLayout.place(PixelSize(width: width, height: height), in: tile)
        #expect(abs((place.left - tile.left) - (tile.right - place.left - width)) <= 1)
        #expect(place.top >= tile.top + ContactSheetLayout.inset)
        let last = ContactSheetLayout.baseline(ofLine: 0, in: tile)
        #expect(place.top + height < last)
    }

    @Test func theLastLineOfALabelIsInsideItsTile() {
        let tile = layout.sections[0].tiles[0]
        let last = ContactSheetLayout.linesPerLabel - 1
        #expect(ContactSheetLayout.baseline(ofLine: last, in: tile) < tile.bottom)
    }

    @Test func textsAreEscaped() {
        #expect(SheetText.escaped("a|><b&\"'\u{0}") == "a|&gt;&lt;b&amp;&quot;&#39;\u{FFFD}")
    }
}
