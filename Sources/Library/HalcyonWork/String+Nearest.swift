extension String {
    package func nearest(of texts: [String]) -> (text: String, distance: Int) {
        texts.map { ($0, distance(to: $0)) }.min { $0.1 < $1.1 } ?? ("", .max)
    }

    /// Whether the distance is small enough for a typing error.
    package func isNearly(_ other: (text: String, distance: Int)) -> Bool {
        other.distance <= Swift.min(Swift.max(1, count / 3), 2)
    }

    /// The number of inserted, removed or replaced characters (Levenshtein).
    private func distance(to other: String) -> Int {
        let (one, two) = (Array(self), Array(other))
        var row = Array(0...two.count)
        for (i, character) in one.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, candidate) in two.enumerated() {
                let replaced = diagonal + (character == candidate ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = Swift.min(replaced, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[two.count]
    }
}
