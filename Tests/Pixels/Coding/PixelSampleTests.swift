import CCodecs
import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

/// A file of `Tests/Samples` that another program has written, and what another decoder makes of it.
struct PixelSample: CustomTestStringConvertible {
    let file: String
    /// The greatest difference that a sample may have, on the scale 0…255: conversions round in several ways.
    let tolerance: Double
    /// The frames as plain PNG files.
    let frames: [String]
    /// In place of the frames, the CRC-32 of all samples of the only one.
    let checksum: UInt32?

    var testDescription: String { file }

    init(_ file: String, tolerance: Double, frames: [String]? = nil, checksum: UInt32? = nil) {
        self.file = file
        self.tolerance = tolerance
        self.frames = frames ?? ["\(file).png"]
        self.checksum = checksum
    }

    static let all = avif + jpegXL + colours

    /// AVIF files that avifenc 0.11 has written (libaom 3.6). Their planes were decoded by aomdec, libaom's own program,
    /// and made colours, cropped and turned by a few lines of Python after ITU-T H.273, ISO/IEC 14496-12 and
    /// ISO/IEC 23008-12. Halcyon reads them by libavif and dav1d. What chroma is between two of its samples is
    /// stated nowhere, so pictures with fewer of them are smooth and differ a little more.
    private static let avif = [
        PixelSample("loss-444.avif", tolerance: 1.5),
        PixelSample("video-range-420.avif", tolerance: 2.5),
        PixelSample("10-bits-opacity.avif", tolerance: 0.6),
        PixelSample("12-bits-bt2020-422.avif", tolerance: 4.5),
        PixelSample("premultiplied.avif", tolerance: 3.5),
        PixelSample("cropped-turned-mirrored.avif", tolerance: 1.5),
        PixelSample("grey.avif", tolerance: 1.1),
        PixelSample("six-tiles.avif", tolerance: 0, checksum: 0x5272_DBAD),
    ]

    /// Levels between libjpeg-turbo and libjxl, which puts chroma between its samples in a way of its own: 4 with
    /// libjxl 0.7, 5 with 0.11.
    private static let ofJPEG = JPEGXL_MINOR_VERSION < 8 ? 4.1 : 5.1

    /// JPEG XL files that cjxl 0.7 has written. Pixels of those without loss are those they were made of, and those with a
    /// profile were converted by LittleCMS 2.19; the one with loss was decoded by libjxl 0.12
    /// (pillow-jxl-plugin 1.3.8). What was made of JPEG files was made JPEG again and decoded by
    /// libjpeg-turbo 3.2, which puts chroma between its samples in another way.
    private static let jpegXL = [
        PixelSample("loss.jxl", tolerance: 1.1),
        PixelSample("opacity.jxl", tolerance: 0),
        PixelSample("16-bits.jxl", tolerance: 0),
        PixelSample("grey-opacity.jxl", tolerance: 0),
        PixelSample("from-jpeg.jxl", tolerance: ofJPEG),
        PixelSample("from-turned-jpeg.jxl", tolerance: ofJPEG),
        PixelSample("display-p3.jxl", tolerance: 2.1, frames: displayP3),
        PixelSample(
            "animation.jxl", tolerance: 0, frames: (0..<3).map { "animation.jxl.\($0).png" }),
    ]

    /// What the pixels of lossless files mean in Display P3, as they are in sRGB.
    private static let displayP3 = ["expected-display-p3.png"]
    /// And in Adobe RGB.
    private static let adobeRGB = ["expected-adobe-rgb.png"]

    /// Files in wide spaces, written by Pillow 13 and avifenc 0.11; the profiles are written by hand after ICC.1. Their
    /// colours were converted by LittleCMS 2.19 (relative colorimetric) from the pixels as Pillow decodes them.
    private static let colours = [
        PixelSample("adobe-rgb.jpg", tolerance: 3.1),
        PixelSample("display-p3.jpg", tolerance: 3.1),
        PixelSample("display-p3.webp", tolerance: 2.1, frames: displayP3),
        PixelSample("adobe-rgb.png", tolerance: 2.1, frames: adobeRGB),
        PixelSample("display-p3-cicp.png", tolerance: 2.1, frames: displayP3),
        PixelSample("adobe-rgb.avif", tolerance: 2.1, frames: adobeRGB),
        PixelSample("display-p3-nclx.avif", tolerance: 2.1, frames: displayP3),
    ]
}

struct PixelSampleTests {
    @Test(arguments: PixelSample.all)
    func pixelsAreThoseOfOtherDecoders(_ sample: PixelSample) throws {
        let image = try Image.decoding(SampleFile.data(sample.file))
        if let checksum = sample.checksum {
            #expect(PNGFixture.checksum([UInt8](try image.bitmap().data)) == checksum)
            return
        }
        #expect(image.frameCount == sample.frames.count)
        for (index, frame) in sample.frames.enumerated() {
            let found = try image.bitmap(frame: index)
            let expected = try decoded(SampleFile.data(frame))
            #expect(found.hasAlpha == expected.hasAlpha && found.depth == expected.depth)
            let difference = try found.visibleDifference(from: expected)
            #expect(difference <= sample.tolerance, "frame \(index)")
        }
    }
}
