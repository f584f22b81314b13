/// The means of the 8×8 blocks of a progressive file (its DC coefficients), decoded from the scans that
/// hold them while all others are passed over: the picture at an eighth of its size, in a fraction of the
/// time and the memory that all coefficients take.
struct JPEGMeans {
    /// The blocks of a component.
    final class Component {
        let frame: JPEGFrame.Component
        /// Blocks that the picture covers.
        let width: Int
        let height: Int
        /// Blocks in a row that are stored: those of whole units.
        let stride: Int
        /// The coefficients, row by row.
        let values: UnsafeMutablePointer<Int16>
        /// What they are to be multiplied with; `nil` before the first scan.
        var factor: Int?
        /// The bit down to which they are known.
        var low: UInt8 = 0

        init(_ component: JPEGFrame.Component, of frame: JPEGFrame, columns: Int, rows: Int) {
            self.frame = component
            width = frame.blocks(frame.width, component.horizontal, of: \.horizontal)
            height = frame.blocks(frame.height, component.vertical, of: \.vertical)
            stride = columns * component.horizontal
            let count = stride * rows * component.vertical
            values = .allocate(capacity: count)
            values.initialize(repeating: 0, count: count)
        }

        deinit {
            values.deallocate()
        }
    }

    let frame: JPEGFrame
    let components: [Component]
    /// Units of a scan of several components.
    private let columns: Int
    private let rows: Int

    private init(_ frame: JPEGFrame) {
        self.frame = frame
        let (columns, rows) = (
            frame.blocks(frame.width, 1, of: \.horizontal),
            frame.blocks(frame.height, 1, of: \.vertical)
        )
        self.columns = columns
        self.rows = rows
        components = frame.components.map {
            Component($0, of: frame, columns: columns, rows: rows)
        }
    }

    /// Decodes a file; `nil` when anything in it is damaged or unusual, or its end is missing.
    init?(_ file: UnsafeRawBufferPointer) {
        var found: JPEGMeans?
        var tables = JPEGMeanTables()
        var scanCount = 0
        var segments = JPEGSegments(file)
        while let segment = segments.next() {
            if segment.code == 0xC2 {
                guard found == nil, let frame = JPEGFrame(segment.content, isProgressive: true),
                    frame.isOrdinary
                else { return nil }
                found = JPEGMeans(frame)
            } else if segment.code == 0xDA {
                scanCount += 1
                guard scanCount <= JPEGSegments.maximumScanCount,
                    let scan = JPEGScan(segment.content),
                    found?.decode(scan, of: file, from: segment.end, tables) == true,
                    segments.passScan()
                else { return nil }
            } else {
                guard !JPEGSegments.standsAlone(segment.code),
                    tables.take(segment.code, segment.content)
                else { return nil }
            }
        }
        guard segments.hasEnded, let found, found.components.allSatisfy({ $0.factor != nil })
        else { return nil }
        self = found
    }
}

extension JPEGMeans {
    private typealias Member = (component: Component, table: HuffmanTable?)

    /// Decodes a scan if it holds means; false when it is damaged or unusual.
    private func decode(
        _ scan: JPEGScan, of file: UnsafeRawBufferPointer, from start: Int, _ tables: JPEGMeanTables
    ) -> Bool {
        guard scan.first == 0 else { return true }
        guard scan.last == 0, scan.low < 14 else { return false }
        var members: [Member] = []
        for member in scan.members {
            guard
                let component = components.first(where: {
                    $0.frame.identifier == member.identifier
                }), !members.contains(where: { $0.component === component })
            else { return false }
            if scan.high > 0 {
                guard component.factor != nil, component.low == scan.high,
                    scan.low + 1 == scan.high
                else { return false }
            } else {
                // The quantiser in force at a component's first scan counts.
                guard component.factor == nil, tables.codes[member.table] != nil,
                    let factor = tables.quantizers[component.frame.quantizer]
                else { return false }
                component.factor = factor
            }
            component.low = scan.low
            members.append((component, tables.codes[member.table]))
        }
        var reader = EntropyReader(file, from: start)
        return decode(members, scan, &reader, restartInterval: tables.restartInterval)
    }

    private func decode(
        _ members: [Member], _ scan: JPEGScan, _ reader: inout EntropyReader, restartInterval: Int
    ) -> Bool {
        // A scan of one component has only the blocks that the picture covers, row by row.
        let alone = members.count == 1 ? members[0].component : nil
        let (columns, rows) = alone.map { ($0.width, $0.height) } ?? (columns, rows)
        var predictions: InlineArray<4, Int> = .init(repeating: 0)
        var untilRestart = restartInterval
        var restarts = 0
        for row in 0..<rows {
            for column in 0..<columns {
                if restartInterval > 0 {
                    if untilRestart == 0 {
                        guard reader.restart(restarts) else { return false }
                        restarts += 1
                        untilRestart = restartInterval
                        predictions = .init(repeating: 0)
                    }
                    untilRestart -= 1
                }
                for index in members.indices {
                    let (component, table) = members[index]
                    let across = alone == nil ? component.frame.horizontal : 1
                    let down = alone == nil ? component.frame.vertical : 1
                    for y in row * down..<(row + 1) * down {
                        let first = component.values + y * component.stride + column * across
                        for value in first..<first + across {
                            guard
                                Self.decode(
                                    value, scan, &reader, table, prediction: &predictions[index])
                            else { return false }
                        }
                    }
                }
            }
            if reader.isExhausted { return false }
        }
        return true
    }

    /// Decodes one coefficient, or one more bit of it (ITU-T T.81, G.1.2.1).
    @inline(__always)
    private static func decode(
        _ value: UnsafeMutablePointer<Int16>, _ scan: JPEGScan, _ reader: inout EntropyReader,
        _ table: HuffmanTable?, prediction: inout Int
    ) -> Bool {
        if scan.high > 0 {
            if reader.take(1) == 1 { value.pointee |= 1 &<< Int16(scan.low) }
            return true
        }
        guard let found = table?.find(reader.peek16()), found != 0 else { return false }
        reader.skip(found >> 8)
        let magnitude = found & 255
        if magnitude > 0 {
            let bits = reader.take(magnitude)
            let isNegative = bits >> (magnitude - 1) == 0
            prediction &+= isNegative ? bits - (1 << magnitude) + 1 : bits
        }
        value.pointee = Int16(truncatingIfNeeded: prediction << Int(scan.low))
        return true
    }
}
