import CVips
import Foundation

/// The typed access of `VipsValue` to a GLib value.
enum GValueCoder {
    /// Writes `value` as the type that `target` was initialised with; `false` when it does not fit.
    static func set(_ target: UnsafeMutablePointer<GValue>, to value: VipsValue) -> Bool {
        let type = target.pointee.g_type
        if GTypes.isA(type, GTypes.enumeration) {
            guard let number = enumerationValue(value, type: type) else { return false }
            g_value_set_enum(target, number)
            return true
        }
        if GTypes.isA(type, GTypes.flags) {
            guard let bits = flagsValue(value, type: type) else { return false }
            g_value_set_flags(target, bits)
            return true
        }
        return setNumber(target, to: value) || setObject(target, to: value)
            || setBoxed(target, to: value)
    }

    private static func setNumber(
        _ target: UnsafeMutablePointer<GValue>, to value: VipsValue
    ) -> Bool {
        switch target.pointee.g_type {
        case GTypes.boolean:
            guard case .bool(let flag) = value else { return false }
            g_value_set_boolean(target, flag ? 1 : 0)
        case GTypes.int:
            guard let number = value.exactInt.flatMap({ Int32(exactly: $0) }) else { return false }
            g_value_set_int(target, number)
        case GTypes.uint:
            guard let number = value.exactInt.flatMap({ UInt32(exactly: $0) }) else { return false }
            g_value_set_uint(target, number)
        case GTypes.int64:
            guard let number = value.exactInt else { return false }
            g_value_set_int64(target, gint64(number))
        case GTypes.uint64:
            guard let number = value.exactInt.flatMap({ UInt(exactly: $0) }) else { return false }
            g_value_set_uint64(target, guint64(number))
        case GTypes.float:
            guard let number = value.asDouble else { return false }
            g_value_set_float(target, Float(number))
        case GTypes.double:
            guard let number = value.asDouble else { return false }
            g_value_set_double(target, number)
        case GTypes.string:
            guard case .string(let text) = value else { return false }
            g_value_set_string(target, text)
        default:
            return false
        }
        return true
    }

    private static func setObject(
        _ target: UnsafeMutablePointer<GValue>, to value: VipsValue
    ) -> Bool {
        let type = target.pointee.g_type
        if GTypes.isA(type, vips_image_get_type()), case .image(let image) = value {
            g_value_set_object(target, image.pointer)
            return true
        }
        if GTypes.isA(type, vips_interpolate_get_type()), case .string(let nickname) = value {
            guard let interpolate = vips_interpolate_new(nickname) else { return false }
            g_value_take_object(target, interpolate)
            return true
        }
        return false
    }

    private static func setBoxed(
        _ target: UnsafeMutablePointer<GValue>, to value: VipsValue
    ) -> Bool {
        let type = target.pointee.g_type
        if type == vips_array_double_get_type(), let numbers = value.asDoubles {
            g_value_take_boxed(target, vips_array_double_new(numbers, Int32(numbers.count)))
        } else if type == vips_array_int_get_type(), let numbers = value.asInts {
            g_value_take_boxed(target, vips_array_int_new(numbers, Int32(numbers.count)))
        } else if type == vips_array_image_get_type(), case .images(let images) = value {
            var pointers = images.map { Optional($0.pointer) }
            g_value_take_boxed(target, vips_array_image_new(&pointers, Int32(images.count)))
        } else if type == vips_blob_get_type(), case .blob(let data) = value {
            g_value_take_boxed(target, ByteOwner(data).makeBlob())
        } else {
            return false
        }
        return true
    }

    private static func enumerationValue(_ value: VipsValue, type: GType) -> Int32? {
        let enumeration = g_type_class_ref(type)!
        defer { g_type_class_unref(enumeration) }
        let members = enumeration.assumingMemoryBound(to: GEnumClass.self)
        if case .string(let nickname) = value {
            return g_enum_get_value_by_nick(members, nickname)?.pointee.value
        }
        guard let number = value.exactInt.flatMap({ Int32(exactly: $0) }) else { return nil }
        return g_enum_get_value(members, number)?.pointee.value
    }

    private static func flagsValue(_ value: VipsValue, type: GType) -> UInt32? {
        if case .string(let nicknames) = value {
            let flags = g_type_class_ref(type)!
            defer { g_type_class_unref(flags) }
            let members = flags.assumingMemoryBound(to: GFlagsClass.self)
            var bits: UInt32 = 0
            for nickname in nicknames.split(separator: "|") {
                guard let member = g_flags_get_value_by_nick(members, String(nickname)) else {
                    return nil
                }
                bits |= member.pointee.value
            }
            return bits
        }
        return value.exactInt.flatMap { UInt32(exactly: $0) }
    }

    /// The value as Swift sees it, or `nil` for a type that has no counterpart or holds nothing.
    ///
    /// - Parameter lineage: What images read from the value are made of.
    static func read(
        _ source: UnsafeMutablePointer<GValue>, lineage: Lineage = Lineage()
    ) -> VipsValue? {
        let type = source.pointee.g_type
        switch type {
        case GTypes.boolean: return .bool(g_value_get_boolean(source) != 0)
        case GTypes.int: return .int(Int(g_value_get_int(source)))
        case GTypes.uint: return .int(Int(g_value_get_uint(source)))
        case GTypes.int64: return .int(Int(g_value_get_int64(source)))
        case GTypes.uint64: return Int(exactly: g_value_get_uint64(source)).map { .int($0) }
        case GTypes.float: return .double(Double(g_value_get_float(source)))
        case GTypes.double: return .double(g_value_get_double(source))
        case GTypes.string:
            return g_value_get_string(source).map { .string(String(cString: $0)) }
        case vips_ref_string_get_type():
            return vips_value_get_ref_string(source, nil).map { .string(String(cString: $0)) }
        default: break
        }
        if GTypes.isA(type, GTypes.enumeration) { return .int(Int(g_value_get_enum(source))) }
        if GTypes.isA(type, GTypes.flags) { return .int(Int(g_value_get_flags(source))) }
        if GTypes.isA(type, vips_image_get_type()) {
            guard let object = g_value_get_object(source) else { return nil }
            g_object_ref(object)
            let pointer = object.assumingMemoryBound(to: CVips.VipsImage.self)
            return .image(VipsImage(owning: pointer, lineage: lineage))
        }
        return readBoxed(source, type: type)
    }

    private static func readBoxed(
        _ source: UnsafeMutablePointer<GValue>, type: GType
    ) -> VipsValue? {
        guard g_value_get_boxed(source) != nil else { return nil }
        var count: Int32 = 0
        switch type {
        case vips_array_double_get_type():
            let numbers = vips_value_get_array_double(source, &count)
            return .doubles(Array(UnsafeBufferPointer(start: numbers, count: Int(count))))
        case vips_array_int_get_type():
            let numbers = vips_value_get_array_int(source, &count)
            return .ints(UnsafeBufferPointer(start: numbers, count: Int(count)).map(Int.init))
        case vips_blob_get_type():
            var length = 0
            guard let bytes = vips_value_get_blob(source, &length) else { return nil }
            return .blob(Data(bytes: bytes, count: length))
        default:
            return nil
        }
    }
}

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

    static func isA(_ type: GType, _ parent: GType) -> Bool {
        g_type_is_a(type, parent) != 0
    }
}

func withGValue<Result, Failure: Error>(
    of type: GType, _ body: (UnsafeMutablePointer<GValue>) throws(Failure) -> Result
) throws(Failure) -> Result {
    var value = GValue()
    g_value_init(&value, type)
    defer { g_value_unset(&value) }
    return try body(&value)
}

typealias ImagePointer = UnsafeMutablePointer<CVips.VipsImage>
