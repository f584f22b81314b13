public import Foundation

/// A value of an operation's argument or of an image's metadata field.
///
/// An integer serves where libvips wants a floating-point number, and one number where it wants an
/// array. A string also names the value of an enumeration (`"sequential"`) or, joined by `|`, of flags.
public enum VipsValue: Sendable {
    case int(Int)
    case double(Double)
    case bool(Bool)
    case string(String)
    case image(VipsImage)
    case doubles([Double])
    case ints([Int])
    case images([VipsImage])
    case blob(Data)
}

extension VipsValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral
{
    public init(integerLiteral value: Int) { self = .int(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: Double...) { self = .doubles(elements) }
}

extension VipsValue {
    /// The value in an error message, without its content where that may be long.
    var text: String {
        switch self {
        case .int(let value): "\(value)"
        case .double(let value): "\(value)"
        case .bool(let value): "\(value)"
        case .string(let value): "\"\(value)\""
        case .image: "an image"
        case .doubles: "an array of numbers"
        case .ints: "an array of integers"
        case .images: "an array of images"
        case .blob: "bytes"
        }
    }

    /// The value as an integer when nothing is lost by it.
    var exactInt: Int? {
        switch self {
        case .int(let value): value
        case .double(let value): Int(exactly: value)
        case .bool(let value): value ? 1 : 0
        default: nil
        }
    }

    var asDouble: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    var asDoubles: [Double]? {
        switch self {
        case .doubles(let values): values
        case .ints(let values): values.map(Double.init)
        default: asDouble.map { [$0] }
        }
    }

    var asInts: [Int32]? {
        switch self {
        case .ints(let values): exactly(values) { Int32(exactly: $0) }
        case .doubles(let values): exactly(values) { Int32(exactly: $0) }
        default: exactInt.flatMap { Int32(exactly: $0) }.map { [$0] }
        }
    }

    private func exactly<Value>(_ values: [Value], _ convert: (Value) -> Int32?) -> [Int32]? {
        let converted = values.compactMap(convert)
        return converted.count == values.count ? converted : nil
    }
}
