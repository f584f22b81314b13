import Foundation
import NIOCore

/// The steps in which a body is sent: an iterator, because a body may have no end.
struct BodySteps: Sendable, IteratorProtocol {
    enum Step: Sendable {
        case wait(Pause)
        case bytes(ByteBuffer)
    }

    static let none = BodySteps(.empty)

    var sliceLength: Int?
    var pacing = SlicePacing.none
    var holds: [(offset: Int, pause: Pause)] = []
    /// Where the body is cut off, `nil` for its own end.
    var limit: Int?

    private var bytes = ByteBuffer()
    /// Whether the bytes come again and again, always whole.
    private var isEndless = false
    private var position = 0
    /// Waits at `position` that are still to be done; `nil` when they have not been looked up.
    private var waits: [Pause]?

    init(_ body: OriginBody) {
        switch body {
        case .data(let data), .raw(let data): bytes.writeBytes(data)
        case .endless(let piece):
            precondition(!piece.isEmpty, "an endless body repeats at least one byte")
            isEndless = true
            // A short piece is repeated beforehand, so that it is not written a few bytes at a time.
            repeat { bytes.writeBytes(piece) } while bytes.readableBytes < 16384
        }
    }

    /// Whether all bytes have been handed out.
    var isAtEnd: Bool { !isEndless && position >= end }

    private var end: Int { min(bytes.readableBytes, limit ?? .max) }

    var immediate: ByteBuffer? {
        isEndless || sliceLength != nil || !holds.isEmpty || limit != nil ? nil : bytes
    }

    mutating func next() -> Step? {
        if isEndless { return .bytes(bytes) }
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
        return bytes.getSlice(at: bytes.readerIndex + start, length: position - start)
            .map(Step.bytes)
    }

    private func pausesAtPosition() -> [Pause] {
        var pauses = holds.filter { $0.offset == position }.map(\.pause)
        if let sliceLength, !isAtEnd, position > 0, position.isMultiple(of: sliceLength),
            case .interval(let duration) = pacing
        {
            pauses.append(.duration(duration))
        }
        return pauses
    }

    /// The end of the piece that starts at `position`.
    private func nextCut() -> Int {
        var cut = end
        if let sliceLength { cut = min(cut, (position / sliceLength + 1) * sliceLength) }
        for hold in holds where hold.offset > position { cut = min(cut, hold.offset) }
        return cut
    }
}
