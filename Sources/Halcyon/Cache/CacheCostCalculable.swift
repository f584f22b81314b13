public import Foundation

/// A value that knows how many bytes of memory it costs.
public protocol CacheCostCalculable {
    /// Bytes.
    var cacheCost: Int { get }
}

/// A value that can be written to and read from the disk cache.
public protocol DataTransformable {
    /// The bytes to store.
    func toData() throws -> Data
    /// The value of stored bytes.
    static func fromData(_ data: Data) throws -> Self
    /// Returned by look-ups that only ask whether a value is there.
    static var empty: Self { get }
}

extension Data: DataTransformable {
    public func toData() throws -> Data { self }
    public static func fromData(_ data: Data) throws -> Data { data }
    public static var empty: Data { Data() }
}
