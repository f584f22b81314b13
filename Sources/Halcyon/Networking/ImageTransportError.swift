// What `HalcyonHTTP` has in this module's public interface comes with `import Halcyon`.
@_exported public import HalcyonHTTP

/// Why a transfer failed, below the level of HTTP status codes.
public typealias ImageTransportError = TransportError
