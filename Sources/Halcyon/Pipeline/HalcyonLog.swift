import Logging

/// Where problems are told that fail no request, such as a cache folder that cannot be written.
enum HalcyonLog {
    private static let logger = Logger(label: "halcyon")

    /// Tells of an error that fails nothing.
    static func warn(of error: KingfisherError) {
        logger.warning("\(error.readableDescription)")
    }

    /// Tells of a use of the interface that cannot do what was meant.
    static func misuse(_ message: String) {
        logger.error("\(message)")
    }
}
