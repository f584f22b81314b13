import Testing

@testable import HalcyonPixels

/// Animated PNG files of `Tests/Samples` that Pillow 13 has written, and checksums (CRC-32) of their frames as RGBA:
/// the pixels as it reads them, drawn onto each other by a few lines of Python after the words of the
/// specification. (Pillow itself leaves out what a frame covered that is disposed of as "previous", and lays
/// frames over a picture that is none.)
struct APNGSample: CustomTestStringConvertible {
    let file: String
    let timing: AnimationTiming
    let checksums: [UInt32]

    var testDescription: String { file }

    static let all = [
        APNGSample(
            file: "apng-laid-over.png",
            timing: AnimationTiming(durations: [0.1, 0.05, 0.2, 0.04, 0.07], loopCount: 3),
            checksums: [0x426E_1ED0, 0x420A_C3DC, 0x80F6_B82E, 0x5C5B_D382, 0xD202_0C6F]),
        APNGSample(
            file: "apng-picture-no-frame.png",
            timing: AnimationTiming(durations: [0.08, 0.08, 0.08, 0.08], loopCount: 0),
            checksums: [0xF1F5_9666, 0x80F6_B82E, 0x18A6_92BF, 0xD202_0C6F]),
        APNGSample(
            file: "apng-opaque.png",
            timing: AnimationTiming(durations: [0.06, 0.06, 0.06, 0.06, 0.06], loopCount: 1),
            checksums: [0x426E_1ED0, 0xBDF5_A2BC, 0x47AB_7D34, 0x1865_FDAE, 0x518A_515F]),
    ]
}
