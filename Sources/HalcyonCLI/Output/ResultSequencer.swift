/// Puts results that come in any order into the order of what was asked for.
struct ResultSequencer<Result> {
    private var waiting: [Int: Result] = [:]
    private var next = 0

    /// Takes the result of the request at `index`, and gives all results whose turn has come.
    mutating func finish(_ index: Int, with result: Result) -> [Result] {
        waiting[index] = result
        var ready: [Result] = []
        while let result = waiting.removeValue(forKey: next) {
            ready.append(result)
            next += 1
        }
        return ready
    }
}
