import CVips

/// An image: pixels in memory, or a pipeline of operations that computes them when they are asked for.
///
/// Images never change. An operation gives a new image that refers to its inputs, so the bytes and the
/// memory that an image was made of stay alive until the last image derived from it is gone.
///
/// An image loaded with `access: "sequential"` is read once, from top to bottom: evaluate only one image
/// derived from it, once, without rotating or flipping it before ``copiedToMemory()``.
///
/// `@unchecked Sendable`: libvips images may be shared by threads once they are made, their reference
/// count is atomic, and nothing in this module changes one that is reachable from outside.
public final class VipsImage: @unchecked Sendable {
    let pointer: ImagePointer

    /// The operations that are evaluated together with this image.
    let lineage: Lineage

    /// Takes over one reference.
    init(owning pointer: ImagePointer, lineage: Lineage) {
        self.pointer = pointer
        self.lineage = lineage
    }

    deinit {
        g_object_unref(pointer)
    }

    /// Runs an operation that needs no image, such as `black` or `xyz`, and returns the image it makes.
    public static func create(
        _ operation: String, _ arguments: [String: VipsValue]
    ) throws(VipsError) -> VipsImage {
        var builder = VipsOperation(operation)
        builder.set(arguments)
        return try builder.run().image()
    }

    /// Runs an operation on this image and returns the image it makes.
    ///
    /// This image becomes the operation's first required image argument (`in` for most). An operation that draws
    /// into its image draws into a copy, which is returned.
    public func apply(
        _ operation: String, _ arguments: [String: VipsValue] = [:]
    ) throws(VipsError) -> VipsImage {
        try run(operation, arguments).image()
    }

    /// Runs an operation on this image and returns everything it makes, such as `x` and `y` of `max`.
    public func run(
        _ operation: String, _ arguments: [String: VipsValue] = [:]
    ) throws(VipsError) -> VipsOutputs {
        var builder = VipsOperation(operation)
        builder.set(arguments)
        return try builder.run(input: self)
    }

    /// Makes the evaluation that next reads this image's pixels fail, from any thread.
    ///
    /// To stop a pipeline, cancel the image that came from the loader. Encoders do not stop after
    /// their last pixel, and codecs that decode a whole frame first do not stop before it.
    public func cancel() {
        vips_image_set_kill(pointer, 1)
    }
}

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

/// The meaning of a pixel's bands.
public enum VipsInterpretation: Int, Sendable, CaseIterable {
    case multiband = 0
    case bw = 1
    case histogram = 10
    case xyz = 12
    case lab = 13
    case cmyk = 15
    case labq = 16
    case rgb = 17
    case cmc = 18
    case lch = 19
    case labs = 21
    case srgb = 22
    case yxy = 23
    case fourier = 24
    case rgb16 = 25
    case grey16 = 26
    case matrix = 27
    case scrgb = 28
    case hsv = 29

    /// The name that libvips gives the interpretation in operations such as `colourspace`.
    public var nickname: String {
        self == .bw ? "b-w" : String(describing: self)
    }

    /// The value of full opacity, and of white where the space has one, in the space's usual format.
    public var maximum: Double {
        self == .rgb16 || self == .grey16 ? 65535 : 255
    }

    init(_ interpretation: CVips.VipsInterpretation) {
        self = VipsInterpretation(rawValue: Int(interpretation.rawValue)) ?? .multiband
    }

    var cValue: CVips.VipsInterpretation {
        CVips.VipsInterpretation(rawValue: Int32(rawValue))
    }
}
