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

    /// What is evaluated together with this image.
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
