import Foundation
import HalcyonPixels
import HalcyonStorage
import HalcyonWork

extension ImageServerConfiguration {
    var cacheDirectory: URL {
        if let directory = cache.directory { return URL(fileURLWithPath: directory) }
        return DiskStorage.userCaches().appendingPathComponent("halcyon-server")
    }

    /// ``pathPrefix`` with a slash before each of its segments.
    var prefix: String { pathPrefix.split(separator: "/").map { "/" + $0 }.joined() }

    /// The settings with what holds in place of those that are not set.
    ///
    /// - Parameter logFormat: What lines of the log look like here.
    package func effective(logFormat: Log.Format) -> ImageServerConfiguration {
        var configuration = self
        configuration.cache.directory = cacheDirectory.path
        configuration.http.ttl = http.ttl ?? (signature.isRequired ? .seconds(31_536_000) : .zero)
        configuration.log.format = log.format ?? logFormat
        configuration.playground = showsPlayground
        configuration.work.decoders = min(work.decoders, Processors.count)
        configuration.work.memory = work.memory ?? DecodingBudget.shared.limit
        return configuration
    }
}
