/// The result of one source: a line for people and an object for programs.
protocol ResultRow {
    var source: ImageArgument { get }
    var failure: LoadFailure? { get }
    var json: JSONObject { get }
    func line(style: TextStyle) -> String
}

extension ResultRow {
    var isFailure: Bool { failure != nil }
    /// Whether the source failed because the user stopped the program.
    var isCancelled: Bool { failure?.isCancellation == true }
}

extension Result {
    var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}

extension Console {
    /// Prints a row: in JSON, or as a line that `isQuiet` leaves out unless it is a failure.
    ///
    /// - Parameters:
    ///   - number: The number of rows so far, this one included.
    ///   - count: The total number of rows.
    func report(_ row: some ResultRow, number: Int, of count: Int, isJSON: Bool, isQuiet: Bool) {
        if isJSON {
            print(row.json.text)
        } else if !isQuiet {
            print(row.line(style: outputStyle))
        } else if row.isFailure {
            note(row.line(style: errorStyle))
        }
        if tellsProgressInLines { note("[\(number)/\(count)] \(row.source.label.printable)") }
    }
}
