import CVips

/// One argument of an operation, as libvips describes it.
///
/// `@unchecked Sendable`: the specification belongs to the operation's class, which never changes or
/// goes away once an instance was made.
struct OperationArgument: @unchecked Sendable {
    let name: String
    let type: GType
    let flags: UInt32
    let specification: UnsafeMutablePointer<GParamSpec>

    /// `nil` when libvips does not know the argument after all, which it reports in its error buffer.
    init?(_ name: String, flags: UInt32, of object: UnsafeMutablePointer<VipsObject>) {
        var specification: UnsafeMutablePointer<GParamSpec>?
        var argumentClass: UnsafeMutablePointer<VipsArgumentClass>?
        var instance: UnsafeMutablePointer<VipsArgumentInstance>?
        guard
            vips_object_get_argument(object, name, &specification, &argumentClass, &instance) == 0,
            let specification
        else { return nil }
        self.name = name
        self.flags = flags
        self.specification = specification
        type = specification.pointee.value_type
    }

    /// Whether it is set before the run.
    var isInput: Bool { has(VIPS_ARGUMENT_INPUT) || isModified }

    /// Whether it is read after the run.
    var isOutput: Bool { has(VIPS_ARGUMENT_OUTPUT) || isModified }

    /// Whether it is an image that the operation draws into.
    var isModified: Bool { has(VIPS_ARGUMENT_MODIFY) }

    /// Whether it is an image that no run goes without.
    var isPrincipalImage: Bool {
        has(VIPS_ARGUMENT_REQUIRED) && !has(VIPS_ARGUMENT_DEPRECATED)
            && GTypes.isA(type, vips_image_get_type())
    }

    private func has(_ flag: VipsArgumentFlags) -> Bool {
        flags & flag.rawValue != 0
    }
}
