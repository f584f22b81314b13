import CVips
public import Foundation

extension VipsImage {
    public var width: Int { Int(vips_image_get_width(pointer)) }
    public var height: Int { Int(vips_image_get_height(pointer)) }
    public var bands: Int { Int(vips_image_get_bands(pointer)) }
    public var format: VipsBandFormat { VipsBandFormat(vips_image_get_format(pointer)) }

    public var interpretation: VipsInterpretation {
        VipsInterpretation(vips_image_get_interpretation(pointer))
    }

    /// Whether the last band is opacity.
    public var hasAlpha: Bool { !isPackedLab && vips_image_hasalpha(pointer) != 0 }

    /// Whether the four bytes of a pixel are a packed Lab colour, which only few operations understand.
    public var isPackedLab: Bool { vips_image_get_coding(pointer) == VIPS_CODING_LABQ }

    /// Whether an ICC profile is attached.
    public var hasProfile: Bool { hasField("icc-profile-data") }

    /// The height of one page when the image is a strip of pages from top to bottom, else its height.
    public var pageHeight: Int { Int(vips_image_get_page_height(pointer)) }

    /// The number of pages in the file that the image came from, whether or not all were loaded.
    public var pageCount: Int { Int(vips_image_get_n_pages(pointer)) }

    /// The names of all header and metadata fields.
    public var fields: [String] {
        guard let names = vips_image_get_fields(pointer) else { return [] }
        defer { g_strfreev(names) }
        var fields: [String] = []
        while let name = names[fields.count] { fields.append(String(cString: name)) }
        return fields
    }

    /// Whether the header or metadata field exists.
    public func hasField(_ name: String) -> Bool {
        vips_image_get_typeof(pointer, name) != 0
    }

    /// The field's integer, such as `orientation`; `nil` when it is missing or not a number.
    public func int(_ field: String) -> Int? {
        value(field)?.exactInt
    }

    /// The field's number; `nil` when it is missing or not a number.
    public func double(_ field: String) -> Double? {
        value(field)?.asDouble
    }

    /// The field's text, such as `vips-loader`; `nil` when it is missing or not text.
    public func string(_ field: String) -> String? {
        guard case .string(let text)? = value(field) else { return nil }
        return text
    }

    /// The field's integers, such as `delay`; `nil` when it is missing or not integers.
    public func ints(_ field: String) -> [Int]? {
        value(field)?.asInts?.map(Int.init)
    }

    /// The field's bytes, such as `icc-profile-data`, copied; `nil` when it is missing or not bytes.
    public func blob(_ field: String) -> Data? {
        guard case .blob(let data)? = value(field) else { return nil }
        return data
    }

    /// The field's value; `nil` when it is missing or of a type without a counterpart.
    public func value(_ field: String) -> VipsValue? {
        // libvips reports a missing field as an error of its own, which nobody asked for.
        guard hasField(field) else { return nil }
        var value = GValue()
        guard vips_image_get(pointer, field, &value) == 0 else { return nil }
        defer { g_value_unset(&value) }
        return GValueCoder.read(&value)
    }

    /// The image with changed metadata fields.
    ///
    /// - Parameters:
    ///   - changes: Fields to set; a field that exists is replaced. Numbers, texts, arrays of numbers
    ///     and bytes; integers of at most 32 bits.
    ///   - removing: Fields to remove; a name that ends in `*` removes all that begin so.
    public func settingMetadata(
        _ changes: [(String, VipsValue)], removing: [String] = []
    ) throws(VipsError) -> VipsImage {
        let copy = try apply("copy")
        // The copy is reachable from here alone, so that it may still be changed.
        for name in removing {
            if name.hasSuffix("*") {
                for field in copy.fields where field.hasPrefix(name.dropLast()) {
                    vips_image_remove(copy.pointer, field)
                }
            } else {
                vips_image_remove(copy.pointer, name)
            }
        }
        for (name, value) in changes {
            guard copy.setField(name, to: value) else {
                throw VipsError(
                    operation: "copy",
                    message: "copy: the metadata field \(name) cannot be \(value.text)")
            }
        }
        return copy
    }

    /// Sets a field of an image without other owners; `false` when the value cannot be a field.
    private func setField(_ name: String, to value: VipsValue) -> Bool {
        switch value {
        case .int, .bool:
            guard let number = value.asInts?.first else { return false }
            vips_image_set_int(pointer, name, number)
        case .double(let number):
            vips_image_set_double(pointer, name, number)
        case .string(let text):
            vips_image_set_string(pointer, name, text)
        case .doubles(let numbers):
            vips_image_set_array_double(pointer, name, numbers, Int32(numbers.count))
        case .ints:
            guard let numbers = value.asInts else { return false }
            vips_image_set_array_int(pointer, name, numbers, Int32(numbers.count))
        case .blob(let data):
            data.withUnsafeBytes {
                vips_image_set_blob_copy(pointer, name, $0.baseAddress, $0.count)
            }
        case .image, .images:
            return false
        }
        return true
    }
}
