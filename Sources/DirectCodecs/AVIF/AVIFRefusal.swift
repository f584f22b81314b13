import CAVIF

/// Why an AVIF file is not read here.
package enum AVIFRefusal: Error, Equatable {
    /// The file is of a kind that libavif does not read.
    case unsupported(String)
    /// The file is cut short, or parts of it are not valid.
    case damaged(String)

    /// What a result of libavif other than success means.
    init(_ result: avifResult) {
        self =
            switch result {
            case AVIF_RESULT_TRUNCATED_DATA, AVIF_RESULT_IO_ERROR:
                .damaged("it is cut short")
            case AVIF_RESULT_DECODE_COLOR_FAILED:
                .damaged("its colours cannot be decoded")
            case AVIF_RESULT_DECODE_ALPHA_FAILED:
                .damaged("its opacity cannot be decoded")
            case AVIF_RESULT_NO_IMAGES_REMAINING:
                .damaged("frames are missing")
            case AVIF_RESULT_UNSUPPORTED_DEPTH:
                .unsupported("its number of bits per sample is not read")
            case AVIF_RESULT_REFORMAT_FAILED, AVIF_RESULT_NOT_IMPLEMENTED:
                .unsupported("the way it stores colours is not read")
            case AVIF_RESULT_NO_CODEC_AVAILABLE:
                .unsupported("no AV1 decoder is installed")
            case AVIF_RESULT_OUT_OF_MEMORY:
                .unsupported("there is not enough memory for it")
            default:
                .damaged("its boxes are not valid")
            }
    }
}

extension AVIFRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unsupported(let reason), .damaged(let reason): reason
        }
    }
}
