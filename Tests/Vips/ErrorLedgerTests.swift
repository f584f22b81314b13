import Testing

@testable import Vips

@Suite struct ErrorLedgerTests {
    private var ledger = ErrorLedger()

    private func lineage(_ operations: String...) -> Lineage { Lineage(operations) }

    @Test mutating func givesALoneOperationEveryLine() {
        let token = ledger.begin(lineage("resize"), thread: 1, fresh: "")
        let message = ledger.fail(token, fresh: "reduceh: too small\nunix error: no memory\n")
        #expect(message == "reduceh: too small\nunix error: no memory")
    }

    @Test mutating func dropsWhatWasLeftBefore() {
        let first = ledger.begin(lineage("resize"), thread: 1, fresh: "old: leftover\n")
        #expect(ledger.fail(first, fresh: "") == "failed without a message")
        let second = ledger.begin(lineage("resize"), thread: 1, fresh: "resize: late\n")
        #expect(ledger.fail(second, fresh: "resize: new\n") == "resize: new")
    }

    @Test mutating func forgetsRemarksOfASuccess() {
        let opening = ledger.begin(lineage("heifload_buffer"), thread: 1, fresh: "")
        let other = ledger.begin(lineage("crop"), thread: 2, fresh: "")
        ledger.succeed(opening, fresh: "heif: odd box\n")
        #expect(ledger.fail(other, fresh: "") == "failed without a message")
    }

    @Test mutating func dividesTheLinesOfConcurrentFailures() {
        let jpeg = ledger.begin(lineage("jpegload_buffer", "render"), thread: 1, fresh: "")
        let crop = ledger.begin(lineage("extract_area"), thread: 2, fresh: "")
        let fresh = "VipsJpeg: premature end\nextract_area: bad area\nVipsJpeg: corrupt\n"
        #expect(ledger.fail(crop, fresh: fresh) == "extract_area: bad area")
        #expect(ledger.fail(jpeg, fresh: "") == "VipsJpeg: premature end\nVipsJpeg: corrupt")
    }

    @Test mutating func rulesOutOperationsThatBeganLater() {
        let early = ledger.begin(lineage("affine"), thread: 1, fresh: "")
        let late = ledger.begin(
            lineage("composite2"), thread: 2, fresh: "vips__inverse: singular\n")
        #expect(ledger.fail(late, fresh: "composite2: bad mode\n") == "composite2: bad mode")
        #expect(ledger.fail(early, fresh: "") == "vips__inverse: singular")
    }

    @Test mutating func prefersTheWarningsOfTheThreadToNeutralLines() {
        let png = ledger.begin(lineage("pngload_buffer"), thread: 1, fresh: "")
        let other = ledger.begin(lineage("affine"), thread: 2, fresh: "")
        ledger.warn("Not a PNG file", thread: 1)
        ledger.warn("from a worker", thread: 3)
        #expect(ledger.fail(png, fresh: "vips__inverse: singular\n") == "Not a PNG file")
        #expect(ledger.fail(other, fresh: "") == "vips__inverse: singular")
    }

    @Test mutating func prefersWarningsEvenWhenTheOtherCandidateIsGone() {
        let png = ledger.begin(lineage("pngload_buffer"), thread: 1, fresh: "")
        let other = ledger.begin(lineage("affine"), thread: 2, fresh: "")
        ledger.warn("Not a PNG file", thread: 1)
        #expect(ledger.fail(other, fresh: "vips__inverse: singular\n") == "vips__inverse: singular")
        #expect(ledger.fail(png, fresh: "") == "Not a PNG file")
    }

    @Test mutating func repeatsNoLineAndIgnoresHarmlessOnes() {
        let token = ledger.begin(lineage("heifload"), thread: 1, fresh: "")
        let fresh = "source: bad seek to 99\nheif: no ftyp\nheif: no ftyp\n"
        #expect(ledger.fail(token, fresh: fresh) == "heif: no ftyp")
    }

    @Test mutating func keepsContinuationLinesTogether() {
        let svg = ledger.begin(lineage("svgload_buffer"), thread: 1, fresh: "")
        let other = ledger.begin(lineage("crop"), thread: 2, fresh: "")
        let fresh = "svgload_buffer: XML\n<not a domain>\n\ncrop: bad\n"
        #expect(ledger.fail(svg, fresh: fresh) == "svgload_buffer: XML\n<not a domain>")
        #expect(ledger.fail(other, fresh: "") == "crop: bad")
    }

    @Test func knowsFormatsByNicknamesAndDomains() {
        let pipeline = Lineage(["webpload_buffer", "resize"])
        #expect(pipeline.owns(domain: "webp") && pipeline.owns(domain: "webp2vips"))
        #expect(pipeline.owns(domain: "resize") && !pipeline.owns(domain: "VipsJpeg"))
        #expect(!pipeline.owns(domain: "source"))
    }

    @Test func tellsReadingAFormatFromWritingIt() {
        let reading = Lineage(["pngload_buffer"])
        #expect(!reading.owns(domain: "vips2png") && !reading.owns(domain: "pngsave_target"))
        let writing = Lineage(["jpegload_buffer", "pngsave_target"])
        #expect(writing.owns(domain: "vips2png") && writing.owns(domain: "VipsJpeg"))
        #expect(!writing.owns(domain: "png2vips_generate"))
    }
}
