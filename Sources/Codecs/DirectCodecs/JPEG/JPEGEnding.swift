import CCodecs
package import Foundation

/// JPEG files without the mark that ends them, which some programs leave out.
package enum JPEGEnding {
    /// The file with that mark; `nil` for a file that has it, and for one of which more is missing as far as its
    /// segments tell. Whether all pixels are there, ``hasAllPixels(_:)`` tells.
    package static func added(to file: Data) -> Data? {
        let isMissing = file.withUnsafeBytes { bytes in
            if bytes.integer(at: bytes.count - 2, length: 2) == 0xFFD9 { return false }
            return Scans(bytes)?.lackOnlyEnding ?? false
        }
        guard isMissing else { return nil }
        // Half of the mark may be there.
        return (file.last == 0xFF ? file.dropLast() : file) + Data([0xFF, 0xD9])
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

    /// The scans of a file.
    private struct Scans {
        private let frame: JPEGFrame
        /// For each component how many bits of each coefficient are still to come.
        private var missingBits: [UInt8: [UInt8]] = [:]
        private(set) var lackOnlyEnding = false

        /// `nil` for a file of another kind, and for one whose pixels nobody can tell to be missing.
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
