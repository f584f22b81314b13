public import Foundation

extension MemoryStorage {
    /// The limits of a memory storage.
    public struct Config: Sendable {
        /// The most bytes all values may cost together; 0 or less for no limit.
        public var totalCostLimit: Int
        /// The most values; 0 or less for no limit.
        public var countLimit: Int = .max
        /// How long values are kept that are stored without an expiration of their own.
        public var expiration: StorageExpiration = .seconds(300)
        /// Seconds between two removals of expired values.
        public var cleanInterval: TimeInterval
        /// Without effect; kept so that code for other platforms compiles. There it keeps values
        /// when a program goes to the background, a state that Linux does not have.
        public var keepWhenEnteringBackground: Bool = false

        /// Limits the cost to `totalCostLimit` bytes; expired values are removed every
        /// `cleanInterval` seconds.
        public init(totalCostLimit: Int, cleanInterval: TimeInterval = 120) {
            self.totalCostLimit = totalCostLimit
            self.cleanInterval = cleanInterval
        }

        var effectiveCostLimit: Int? { totalCostLimit > 0 ? totalCostLimit : nil }
        var effectiveCountLimit: Int? { countLimit > 0 ? countLimit : nil }
    }
}
