/// What is done with the coefficient at one place of the zigzag order.
struct BlockStep {
    /// The step of quantisation.
    var quantum: Int32 = 0
    /// Where in the scratch the coefficient belongs.
    var slot: Int32 = 0
    /// What it is multiplied with.
    var weight: Int32 = 0
    var factor: Float = 0

    static let count = 64

    /// Row and column of each place of the zigzag order: row × 8 + column.
    static let zigzag: [Int] = {
        var order: [Int] = []
        for diagonal in 0..<15 {
            let rows = max(0, diagonal - 7)...min(7, diagonal)
            for row in diagonal % 2 == 0 ? Array(rows.reversed()) : Array(rows) {
                order.append(row * 8 + diagonal - row)
            }
        }
        return order
    }()
}
