import CVips
import Synchronization

/// The arguments of an operation.
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
