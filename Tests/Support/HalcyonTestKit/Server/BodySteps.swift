import NIOCore

/// The steps in which a body is sent: an iterator, because a body may have no end.
struct BodySteps: Sendable, IteratorProtocol {
    enum Step: Sendable {
        case wait(Pause)
        case bytes(ByteBuffer)
    }

    enum Source: Sendable {
        case bytes(ByteBuffer)
        case endless(ByteBuffer)

        var length: Int? {
            switch self {
            case .bytes(let buffer): buffer.readableBytes
            case .endless: nil
            }
        }
    }

    static let none = BodySteps(source: .bytes(ByteBuffer()))

    var source: Source
    var sliceLength: Int?
    var pacing = SlicePacing.none
    var holds: [(offset: Int, pause: Pause)] = []
    /// Where the body is cut off, `nil` for its own end.
    var limit: Int?

    private var position = 0
    /// Waits at `position` that are still to be done; `nil` when they have not been looked up.
    private var waits: [Pause]?

    init(source: Source) {
        self.source = source
    }

    /// Where the last byte is followed by nothing; `nil` when there is no end.
    var end: Int? {
        guard let length = source.length else { return limit }
        return min(length, limit ?? length)
    }

    /// Whether all bytes have been handed out.
    var isAtEnd: Bool { end.map { position >= $0 } ?? false }

    var immediate: ByteBuffer? {
        guard case .bytes(let buffer) = source, sliceLength == nil, holds.isEmpty, limit == nil
        else { return nil }
        return buffer
    }

    mutating func next() -> Step? {
        var pauses = waits ?? pausesAtPosition()
        if !pauses.isEmpty {
            let pause = pauses.removeFirst()
            waits = pauses
            return .wait(pause)
        }
        waits = pauses
        guard !isAtEnd else { return nil }
        let start = position
        position = nextCut()
        waits = nil
        return piece(start..<position)
    }

    private func pausesAtPosition() -> [Pause] {
        var pauses = holds.filter { $0.offset == position }.map(\.pause)
        guard let sliceLength, !isAtEnd, position.isMultiple(of: sliceLength) else { return pauses }
        switch pacing {
        case .none: break
        case .interval(let duration): if position > 0 { pauses.append(.duration(duration)) }
        case .gates(let gates):
            let slice = position / sliceLength
            if slice < gates.count { pauses.append(.gate(gates[slice])) }
        }
        return pauses
    }

    /// The end of the piece that starts at `position`.
    private func nextCut() -> Int {
        var cut = Int.max
        if case .endless(let piece) = source { cut = position + piece.readableBytes }
        if let end { cut = min(cut, end) }
        if let sliceLength { cut = min(cut, (position / sliceLength + 1) * sliceLength) }
        for hold in holds where hold.offset > position { cut = min(cut, hold.offset) }
        return cut
    }

    private func piece(_ range: Range<Int>) -> Step {
        switch source {
        case .bytes(let buffer):
            let start = buffer.readerIndex + range.lowerBound
            return .bytes(buffer.getSlice(at: start, length: range.count) ?? ByteBuffer())
        case .endless(let buffer):
            // A piece starts wherever the one before ended, so the repetition stays seamless.
            let offset = range.lowerBound % buffer.readableBytes
            if offset == 0, range.count == buffer.readableBytes { return .bytes(buffer) }
            var bytes = ByteBuffer()
            bytes.reserveCapacity(range.count)
            for index in 0..<range.count {
                let place = buffer.readerIndex + (offset + index) % buffer.readableBytes
                bytes.writeInteger(buffer.getInteger(at: place) ?? UInt8(0))
            }
            return .bytes(bytes)
        }
    }
}
