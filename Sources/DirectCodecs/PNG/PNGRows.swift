import CDecoding
import CPNG

extension PNGReader {
    /// The rows of an inflated picture, in order.
    struct Rows: ~Copyable {
        private let file: PNGFile
        private let rowBytes: Int
        /// The next row, at its filter byte.
        private var stored: UnsafePointer<UInt8>
        /// The row above as stored samples; zeros before the first.
        private var above: UnsafePointer<UInt8>
        /// Two rows of samples in turn, and one of unpacked samples.
        private let scratch: UnsafeMutablePointer<UInt8>
        private var isOdd = false

        /// - Parameter stream: `file.streamBytes` bytes, which outlive the rows.
        init(_ file: PNGFile, _ stream: UnsafePointer<UInt8>) {
            self.file = file
            rowBytes = file.rowBytes
            stored = stream
            scratch = .allocate(capacity: 2 * rowBytes + file.width)
            scratch.initialize(repeating: 0, count: 2 * rowBytes + file.width)
            above = UnsafePointer(scratch)
        }

        deinit {
            scratch.deallocate()
        }

        /// Whether the samples of a row are its pixels.
        var areAsStored: Bool {
            switch file.colourType {
            case .rgba: true
            case .rgb: file.transparentColour == nil
            case .grey, .greyAlpha, .palette: false
            }
        }

        /// Writes the samples of the next row, which must stay as they are until the row after it is read.
        mutating func unfilter(into row: UnsafeMutablePointer<UInt8>) throws(PNGRefusal) {
            guard !cdecoding_is_late() else { throw .unusual("it takes too long") }
            let pixelBytes = max(1, file.colourType.samples * file.depth / 8)
            guard
                cpng_unfilter(stored[0], stored + 1, above, row, rowBytes, pixelBytes)
            else { throw .damaged("a row has an unknown filter") }
            stored += rowBytes + 1
            above = UnsafePointer(row)
        }

        /// Writes the pixels of the next row.
        mutating func read(into pixels: UnsafeMutablePointer<UInt8>) throws(PNGRefusal) {
            // The row above is in the other half, which is zeros for the first row.
            isOdd.toggle()
            let samples = scratch + (isOdd ? rowBytes : 0)
            try unfilter(into: samples)
            expand(samples, into: pixels)
        }

        private func expand(
            _ samples: UnsafeMutablePointer<UInt8>, into pixels: UnsafeMutablePointer<UInt8>
        ) {
            let width = file.width
            switch file.colourType {
            case .rgb:
                if let key = file.transparentColour {
                    cpng_expand_rgb_key(samples, key, pixels, width)
                } else {
                    pixels.update(from: samples, count: rowBytes)
                }
            case .rgba:
                pixels.update(from: samples, count: rowBytes)
            case .greyAlpha:
                cpng_expand_grey_alpha(samples, pixels, width)
            case .grey, .palette:
                var indices = samples
                if file.depth < 8 {
                    indices = scratch + 2 * rowBytes
                    cpng_unpack(samples, indices, width, Int32(file.depth))
                }
                if let palette = file.palette {
                    cpng_expand_palette(indices, palette, pixels, width, Int32(file.channels))
                } else {
                    cpng_expand_grey(indices, pixels, width)
                }
            }
        }
    }
}
