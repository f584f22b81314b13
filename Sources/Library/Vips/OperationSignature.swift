import CVips
import Synchronization

struct OperationSignature: Sendable {
    private let arguments: [String: OperationArgument]

    /// The first required image that the operation reads or draws into.
    let imageInput: String?

    /// The first required image that the operation makes or draws into.
    let imageOutput: String?

    private static let known = Mutex<[String: OperationSignature]>([:])

    /// The signature of `object`, an instance of the operation `nickname`; read once per nickname.
    static func of(
        _ object: UnsafeMutablePointer<VipsObject>, nickname: String
    ) -> OperationSignature {
        if let signature = known.withLock({ $0[nickname] }) { return signature }
        let signature = OperationSignature(introspecting: object)
        known.withLock { $0[nickname] = signature }
        return signature
    }

    private init(introspecting object: UnsafeMutablePointer<VipsObject>) {
        var names: UnsafeMutablePointer<UnsafePointer<CChar>?>?
        var flags: UnsafeMutablePointer<Int32>?
        var count: Int32 = 0
        var ordered: [OperationArgument] = []
        if vips_object_get_args(object, &names, &flags, &count) == 0, let names, let flags {
            ordered = (0..<Int(count)).compactMap { index in
                names[index].flatMap {
                    OperationArgument(
                        String(cString: $0), flags: UInt32(bitPattern: flags[index]), of: object)
                }
            }
        }
        let images = ordered.filter(\.isPrincipalImage)
        imageInput = images.first(where: \.isInput)?.name
        imageOutput = images.first(where: \.isOutput)?.name
        arguments = Dictionary(ordered.map { (Self.key($0.name), $0) }) { first, _ in first }
    }

    /// The argument of this name, with its words joined by `_` or `-`.
    func argument(_ name: String) -> OperationArgument? {
        arguments[name] ?? arguments[Self.key(name)]
    }

    /// GLib writes `-` where the documentation of libvips writes `_`.
    private static func key(_ name: String) -> String {
        String(name.map { $0 == "-" ? "_" : $0 })
    }
}

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
