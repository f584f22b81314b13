/// What tells that three components are Y, Cb and Cr: the marks of JFIF and of Adobe, then the names of
/// the components.
struct ColourMarks {
    private var isJFIF = false
    private var adobeTransform: UInt8?

    mutating func readJFIF(_ content: ArraySlice<UInt8>) throws(JPEGRefusal) {
        guard content.count >= 14, content.starts(with: [0x4A, 0x46, 0x49, 0x46, 0]) else { return }
        guard content[content.startIndex + 5] == 1 else { throw .segment }
        isJFIF = true
    }

    mutating func readAdobe(_ content: ArraySlice<UInt8>) {
        guard content.count >= 12, content.starts(with: [0x41, 0x64, 0x6F, 0x62, 0x65]) else {
            return
        }
        adobeTransform = content[content.startIndex + 11]
    }

    func check(_ frame: FrameHeader) throws(JPEGRefusal) {
        guard frame.components.count == 3, !isJFIF else { return }
        switch adobeTransform {
        case 1: return
        case .some: throw .colour
        case nil:
            guard frame.components.map(\.identifier) == [1, 2, 3] else { throw .colour }
        }
    }
}
