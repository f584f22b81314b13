import CCodecs
package import Foundation

package struct JPEGSegments {
    /// More scans than any encoder writes. Each may cost a pass over the whole picture.
    package static let maximumScanCount = 100

    package struct Segment {
        /// The mark's second byte.
        package let code: UInt8
        /// The content behind the length; empty for a mark without a length.
        package let content: UnsafeRawBufferPointer
        let start: Int
        let end: Int
    }

    /// Whether the mark for the end of the image has been reached.
    private(set) var hasEnded = false
    private(set) var offset = 2
    private let file: UnsafeRawBufferPointer

    /// - Parameter file: `nil` comes first when it does not begin as JPEG files do.
    package init(_ file: UnsafeRawBufferPointer) {
        self.file = file
        if file.bigEndian(0, 2) != 0xFFD8 { offset = file.count }
    }

    /// Whether a file begins as JPEG files do, with a segment behind bytes that belong to none.
    package static func begins(_ file: UnsafeRawBufferPointer) -> Bool {
        guard file.bigEndian(0, 2) == 0xFFD8 else { return false }
        var segments = JPEGSegments(UnsafeRawBufferPointer(rebasing: file.prefix(mostFiller)))
        guard let code = segments.nextMark(), code >= 0xC0, !standsAlone(code) else { return false }
        return true
    }

    /// The number of bytes that are searched for the first segment.
    private static let mostFiller = 64 << 10

    /// The next segment; `nil` at the end of the image, and where no segment is.
    package mutating func next() -> Segment? {
        guard !hasEnded, let code = nextMark() else { return nil }
        if code == 0xD9 {
            offset += 2
            hasEnded = true
            return nil
        }
        let start = offset
        if Self.standsAlone(code) {
            offset += 2
            return Segment(
                code: code, content: UnsafeRawBufferPointer(start: nil, count: 0), start: start,
                end: offset)
        }
        guard let length = file.bigEndian(offset + 2, 2), length >= 2,
            length <= file.count - offset - 2
        else { return nil }
        offset += 2 + length
        return Segment(
            code: code, content: UnsafeRawBufferPointer(rebasing: file[start + 4..<offset]),
            start: start, end: offset)
    }

    /// Goes on to the next mark and returns its second byte; `nil` when there is none. As libjpeg does, it passes over
    /// bytes that belong to no segment, and any number of 0xFF before the second byte.
    private mutating func nextMark() -> UInt8? {
        guard let base = file.baseAddress else { return nil }
        while offset < file.count, let found = memchr(base + offset, 0xFF, file.count - offset) {
            offset = UnsafeRawPointer(found) - base
            while file.byte(at: offset + 1) == 0xFF { offset += 1 }
            guard let code = file.byte(at: offset + 1) else { return nil }
            if code != 0 { return code }
            offset += 2
        }
        return nil
    }

    /// Whether no length follows a mark: that of a private use, restarts, and the start of an image.
    static func standsAlone(_ code: UInt8) -> Bool { code == 0x01 || (0xD0...0xD8).contains(code) }

    /// Goes on behind the coded data of a scan; false when the file ends within it.
    mutating func passScan() -> Bool {
        guard let base = file.baseAddress else { return false }
        while offset < file.count, let found = memchr(base + offset, 0xFF, file.count - offset) {
            offset = UnsafeRawPointer(found) - base
            while file.byte(at: offset + 1) == 0xFF { offset += 1 }
            guard let code = file.byte(at: offset + 1) else { return false }
            // Neither a stuffed byte nor a restart.
            if code != 0, !(0xD0...0xD7).contains(code) { return true }
            offset += 2
        }
        return false
    }
}

/// JPEG files without the end mark, which some programs leave out.
package enum JPEGEnding {
    /// The file with that mark; `nil` for a file that has it, and for one of which more is missing as far as its
    /// segments tell. Whether all pixels are there, ``hasAllPixels(_:)`` tells.
    package static func added(to file: Data) -> Data? {
        let isMissing = file.withUnsafeBytes { bytes in
            if bytes.bigEndian(bytes.count - 2, 2) == 0xFFD9 { return false }
            return Scans(bytes)?.lackOnlyEnding ?? false
        }
        guard isMissing else { return nil }
        // Half of the mark may be there, and bytes that fill up before it.
        let end = file.lastIndex { $0 != 0xFF }.map { $0 + 1 } ?? file.startIndex
        return file[..<end] + Data([0xFF, 0xD9])
    }

    /// Whether the coded data of each scan goes on to its last pixel. Decodes everything.
    package static func hasAllPixels(_ file: Data) -> Bool {
        file.withUnsafeBytes { bytes in
            let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            guard let reader = cjpeg_reader_create(start, bytes.count) else { return false }
            defer { cjpeg_reader_destroy(reader) }
            return cjpeg_reader_is_whole(reader)
        }
    }

    private struct Scans {
        private let frame: JPEGFrame
        /// For each component how many bits of each coefficient are still to come.
        private var missingBits: [UInt8: [UInt8]] = [:]
        private(set) var lackOnlyEnding = false

        /// `nil` for a file of another kind, and for one whose missing pixels cannot be detected.
        init?(_ bytes: UnsafeRawBufferPointer) {
            var segments = JPEGSegments(bytes)
            var found: JPEGFrame?
            while found == nil, let segment = segments.next() {
                if segment.code == 0xDA { return nil }
                guard (0xC0...0xC2).contains(segment.code) else { continue }
                guard let frame = JPEGFrame(segment), !frame.components.isEmpty,
                    frame.components.count == frame.componentCount
                else { return nil }
                found = frame
            }
            guard let found else { return nil }
            frame = found
            while let segment = segments.next() {
                guard segment.code == 0xDA else { continue }
                guard take(segment.content) else { return nil }
                if !segments.passScan() {
                    lackOnlyEnding = isCovered
                    return
                }
            }
        }

        /// Takes the header of a scan; false for one that is not understood.
        private mutating func take(_ header: UnsafeRawBufferPointer) -> Bool {
            guard let count = header.first.map(Int.init), header.count == 4 + 2 * count else {
                return false
            }
            let (first, last) = (Int(header[1 + 2 * count]), Int(header[2 + 2 * count]))
            let left = frame.isProgressive ? header[3 + 2 * count] & 15 : 0
            guard first <= last, last < 64 else { return false }
            for index in 0..<count {
                let component = header[1 + 2 * index]
                var bits = missingBits[component] ?? [UInt8](repeating: 255, count: 64)
                for place in frame.isProgressive ? first...last : 0...63 { bits[place] = left }
                missingBits[component] = bits
            }
            return true
        }

        private var isCovered: Bool {
            frame.components.allSatisfy {
                missingBits[$0.identifier]?.allSatisfy { $0 == 0 } ?? false
            }
        }
    }
}
