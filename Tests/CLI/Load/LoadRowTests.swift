import Foundation
import Testing

@testable import Halcyon
@testable import HalcyonCLI

struct LoadRowTests {
    private let image = LoadRow.Image(
        cacheKey: "key", cacheType: .disk, format: .JPEG, width: 640, height: 427, frames: 1,
        bytes: 196_653, milliseconds: 12.345, output: nil)

    @Test func tellsAProgramEverythingInOrder() {
        let row = LoadRow(source: ImageArgument("a.jpg"), result: .success(image))
        #expect(
            row.json.text
                == #"{"source":"a.jpg","cacheKey":"key","cacheType":"disk","format":"JPEG","#
                + #""width":640,"height":427,"frames":1,"bytes":196653,"milliseconds":12.35,"#
                + #""output":null}"#)
    }

    @Test func tellsAProgramOfAFailure() {
        let failure = LoadFailure(code: 2002, message: "no \"bird\"")
        let row = LoadRow(source: ImageArgument("a.jpg"), result: .failure(failure))
        #expect(
            row.json.text
                == #"{"source":"a.jpg","error":{"code":2002,"message":"no \"bird\""}}"#)
        #expect(row.isFailure)
    }

    @Test func aFileThatEndedItsDecoderIsNamed() {
        let cause = ImageCodingError.decoderStopped(.SVG, reason: "SIGABRT")
        let item = ImageProcessItem.data(Data("<svg/>".utf8))
        let processor = DefaultImageProcessor.default
        ProcessingFailures.shared.note(cause, of: item, by: processor)
        let error = KingfisherError.processorError(
            reason: .processingFailed(processor: processor, item: item))
        #expect(error.errorDescription == "The decoder of SVG stopped (SIGABRT).")
        let failure = LoadFailure(error, at: "drawings/a.svg")
        #expect(failure.message == "The decoder of SVG stopped (SIGABRT) at drawings/a.svg.")
        #expect(failure.code == 4001)
        #expect(LoadFailure(cause, at: "a.svg").message.hasSuffix("(SIGABRT) at a.svg."))
        let other = ImageCodingError.corrupt(.SVG, reason: "cut short")
        #expect(LoadFailure(other, at: "a.svg") == LoadFailure(other))
    }

    @Test func tellsPeopleOnOneLine() {
        var image = image
        image.output = "out/a.png"
        let row = LoadRow(source: ImageArgument("a.jpg"), result: .success(image))
        #expect(
            row.line(style: .plain)
                == "✓ a.jpg  640×427 JPEG, 196.7 kB, from disk in 12.3 ms → out/a.png")
    }

    @Test func aMessageCannotMoveTheCursor() {
        let failure = LoadFailure(code: 1, message: "a\u{1B}[2J")
        let row = LoadRow(source: ImageArgument("b\u{7}"), result: .failure(failure))
        #expect(row.line(style: .plain) == "✗ b\u{FFFD}  a\u{FFFD}[2J (1)")
    }

    @Test func sumsUp() {
        var tally = LoadTally()
        tally.count(LoadRow(source: ImageArgument("a"), result: .success(image)))
        tally.count(
            LoadRow(
                source: ImageArgument("b"), result: .failure(LoadFailure(code: 1, message: ""))))
        #expect(tally.count == 2)
        #expect(
            tally.summary(after: .milliseconds(250), style: .plain)
                == "1 image (1 from disk), 1 failed, 196.7 kB in 250 ms")
    }
}
