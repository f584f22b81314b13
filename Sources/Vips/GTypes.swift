import CVips

/// The GLib types that C names by macros, which Swift does not import.
enum GTypes {
    static let boolean = GType(5 << 2)
    static let int = GType(6 << 2)
    static let uint = GType(7 << 2)
    static let int64 = GType(10 << 2)
    static let uint64 = GType(11 << 2)
    static let enumeration = GType(12 << 2)
    static let flags = GType(13 << 2)
    static let float = GType(14 << 2)
    static let double = GType(15 << 2)
    static let string = GType(16 << 2)
    static let object = GType(20 << 2)

    static func isA(_ type: GType, _ parent: GType) -> Bool {
        g_type_is_a(type, parent) != 0
    }
}

/// A `GValue` of `type` for the duration of `body`.
func withGValue<Result, Failure: Error>(
    of type: GType, _ body: (UnsafeMutablePointer<GValue>) throws(Failure) -> Result
) throws(Failure) -> Result {
    var value = GValue()
    g_value_init(&value, type)
    defer { g_value_unset(&value) }
    return try body(&value)
}

typealias ImagePointer = UnsafeMutablePointer<CVips.VipsImage>
