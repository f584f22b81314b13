import CVips

/// The number type of one band of a pixel.
public enum VipsBandFormat: Int, Sendable, CaseIterable {
    case uchar, char, ushort, short, uint, int, float, complex, double, dpcomplex

    /// The bytes that one band of one pixel takes.
    public var bytesPerSample: Int {
        switch self {
        case .uchar, .char: 1
        case .ushort, .short: 2
        case .uint, .int, .float: 4
        case .complex, .double: 8
        case .dpcomplex: 16
        }
    }

    /// The name that libvips gives the format in operations such as `cast`.
    public var nickname: String {
        String(describing: self)
    }

    init(_ format: CVips.VipsBandFormat) {
        self = VipsBandFormat(rawValue: Int(format.rawValue)) ?? .uchar
    }

    var cValue: CVips.VipsBandFormat {
        CVips.VipsBandFormat(rawValue: Int32(rawValue))
    }
}
