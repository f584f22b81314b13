/// Finds the scans of a JPEG file in its bytes, as they arrive; each byte is looked at once.
///
/// A pure value of constant size, whatever the bytes are. It stops at the end of the image, and at
/// whatever libjpeg might read in another way.
struct JPEGScanCounter: Equatable {
    enum Process {
        /// No frame header has arrived yet.
        case unknown
        /// In several scans (SOF2).
        case progressive
        /// Another process, or not a JPEG file.
        case other
    }

    private enum Position: Equatable {
        /// Before byte 0 or 1 of the file.
        case start(Int)
        case between
        /// After an 0xFF between segments.
        case mark
        /// In the length of a segment: before its upper or, when that is known, its lower byte.
        case length(code: UInt8, upper: UInt8?)
        /// In a segment, with so many bytes to come.
        case segment(code: UInt8, left: Int)
        case scan
        /// After an 0xFF in that.
        case scanMark
        case end
    }

    private(set) var process = Process.unknown
    private(set) var begun = 0
    /// The scans of which the next mark after their end has arrived and is a scan's or the image's end.
    private(set) var complete = 0
    /// The bytes that belong to the complete scans, the two of the mark that ends the last one included.
    private(set) var completeLength = 0
    private(set) var count = 0
    private var position = Position.start(0)

    /// Whether the image has ended, or cannot be followed any further.
    var isAtEnd: Bool { position == .end }

    /// Looks at the next bytes, up to the end of a scan; returns how many bytes were looked at: all, or those
    /// up to where `complete` grew.
    mutating func scan(_ bytes: UnsafeRawBufferPointer) -> Int {
        var offset = 0
        let before = complete
        while offset < bytes.count, complete == before {
            switch position {
            case .end:
                offset = bytes.count
            case .segment(let code, let left):
                let step = min(left, bytes.count - offset)
                offset += step
                position = left == step ? after(code) : .segment(code: code, left: left - step)
            case .scan where bytes[offset] != 0xFF:
                repeat { offset += 1 } while offset < bytes.count && bytes[offset] != 0xFF
            default:
                offset += 1
                step(bytes[offset - 1], count: count + offset)
            }
        }
        count += offset
        return offset
    }

    /// Goes past one byte; `count` bytes have been passed with it.
    private mutating func step(_ byte: UInt8, count: Int) {
        switch position {
        case .start(let index):
            guard byte == (index == 0 ? 0xFF : 0xD8) else { return giveUp() }
            position = index == 0 ? .start(1) : .between
        case .between:
            // Decoders skip what is not a mark.
            if byte == 0xFF { position = .mark }
        case .mark:
            if byte == 0 { position = .between } else if byte != 0xFF { mark(byte, count: count) }
        case .length(let code, nil):
            position = .length(code: code, upper: byte)
        case .length(let code, let upper?):
            let length = Int(upper) << 8 | Int(byte)
            guard length >= 2 else { return giveUp() }
            position = length == 2 ? after(code) : .segment(code: code, left: length - 2)
        case .scan:
            if byte == 0xFF { position = .scanMark }
        case .scanMark:
            switch byte {
            case 0xFF: break
            // A byte 0xFF of the data, or a restart within the scan.
            case 0, 0xD0...0xD7: position = .scan
            default: mark(byte, count: count)
            }
        case .segment, .end:
            break
        }
    }

    private mutating func mark(_ code: UInt8, count: Int) {
        switch code {
        case 0x01, 0xD0...0xD7:
            position = .between
        case 0xD9:
            endScan(count)
            position = .end
            if process == .unknown { process = .other }
        case 0xDA:
            guard process == .progressive else { return giveUp() }
            endScan(count)
            begun += 1
            position = .length(code: code, upper: nil)
        case 0xC2:
            guard process == .unknown else { return giveUp() }
            process = .progressive
            position = .length(code: code, upper: nil)
        case 0xC4, 0xCC, 0xDB...0xDD, 0xE0...0xEF, 0xFE:
            position = .length(code: code, upper: nil)
        default:
            // Another kind of frame, or a mark of which nobody knows whether it has a length: libjpeg
            // skips some of them alone, and reads what others take for their content.
            giveUp()
        }
    }

    private mutating func endScan(_ count: Int) {
        guard complete < begun else { return }
        complete = begun
        completeLength = count
    }

    private func after(_ code: UInt8) -> Position {
        code == 0xDA ? .scan : .between
    }

    private mutating func giveUp() {
        if process == .unknown { process = .other }
        position = .end
    }
}
