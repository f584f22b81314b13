import Foundation

/// Bytes put together with whole numbers in either byte order.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    var data: Data { Data(bytes) }

    mutating func append(_ other: some Sequence<UInt8>) { bytes.append(contentsOf: other) }

    mutating func append(ascii text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    mutating func append<Number: FixedWidthInteger>(bigEndian values: Number...) {
        for value in values { withUnsafeBytes(of: value.bigEndian) { append($0) } }
    }

    mutating func append<Number: FixedWidthInteger>(littleEndian values: Number...) {
        for value in values { withUnsafeBytes(of: value.littleEndian) { append($0) } }
    }
}
