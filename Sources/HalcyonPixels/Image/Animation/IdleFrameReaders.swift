/// The readers of one animation that nobody uses at the moment, each somewhere in the file.
///
/// Decides which one goes on: players at different places each keep theirs, as far as the limit goes.
struct IdleFrameReaders {
    /// Readers kept at most; each holds a canvas or two.
    let limit: Int
    /// The one used last comes last.
    private(set) var readers: [any FrameReader] = []

    init(limit: Int = 2) {
        self.limit = limit
    }

    /// Takes out the reader with the shortest way to frame `index`; `nil` when all are beyond it.
    mutating func take(for index: Int) -> (any FrameReader)? {
        let best = readers.indices
            .filter { readers[$0].position <= index }
            .max { readers[$0].position < readers[$1].position }
        return best.map { readers.remove(at: $0) }
    }

    /// Puts a reader back; the one that was not used for longest makes room.
    mutating func put(_ reader: any FrameReader) {
        readers.append(reader)
        if readers.count > limit { readers.removeFirst() }
    }
}
