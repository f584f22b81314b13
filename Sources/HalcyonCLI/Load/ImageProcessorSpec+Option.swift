import ArgumentParser
import Halcyon

extension ImageProcessorSpec {
    /// The processor that the values of `--processor` describe; `nil` when there are none.
    static func parse(option values: [String]) throws(ValidationError)
        -> (any ImageProcessor)?
    {
        guard !values.isEmpty else { return nil }
        do {
            return try parse(values)
        } catch {
            throw ValidationError("--processor: \(error)")
        }
    }
}
