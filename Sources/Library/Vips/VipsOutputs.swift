import CVips
public import Foundation

/// What an operation made, by the names of its output arguments.
///
/// `@unchecked Sendable`: the operation is finished; reading its properties changes nothing, and the
/// reference count of GLib objects is atomic.
public final class VipsOutputs: @unchecked Sendable {
    let object: UnsafeMutablePointer<VipsObject>
    let nickname: String
    let lineage: Lineage
    let signature: OperationSignature

    init(
        owning object: UnsafeMutablePointer<VipsObject>, nickname: String, lineage: Lineage,
        signature: OperationSignature
    ) {
        self.object = object
        self.nickname = nickname
        self.lineage = lineage
        self.signature = signature
    }

    deinit {
        vips_object_unref_outputs(object)
        g_object_unref(object)
    }

    /// The output's value, or `nil` when there is no output of this name or it was not made.
    public func value(_ name: String) -> VipsValue? {
        guard let argument = signature.argument(name), argument.isOutput else { return nil }
        return withGValue(of: argument.type) { target in
            UnsafeMutableRawPointer(object).withMemoryRebound(to: GObject.self, capacity: 1) {
                g_object_get_property($0, name, target)
            }
            return GValueCoder.read(target, lineage: lineage)
        }
    }

    /// The image output, or an error that names the operation.
    public func image(_ name: String) throws(VipsError) -> VipsImage {
        guard case .image(let image)? = value(name) else { throw missing(name) }
        return image
    }

    /// The operation's required image output: the one named `out`, or the image it drew into.
    public func image() throws(VipsError) -> VipsImage {
        try image(signature.imageOutput ?? "out")
    }

    /// The number output, or an error that names the operation.
    public func double(_ name: String) throws(VipsError) -> Double {
        guard let number = value(name)?.asDouble else { throw missing(name) }
        return number
    }

    /// The integer output, or an error that names the operation. Enumerations are integers too.
    public func int(_ name: String) throws(VipsError) -> Int {
        guard let number = value(name)?.exactInt else { throw missing(name) }
        return number
    }

    /// The array output, or an error that names the operation.
    public func doubles(_ name: String) throws(VipsError) -> [Double] {
        guard let numbers = value(name)?.asDoubles else { throw missing(name) }
        return numbers
    }

    /// The bytes output, or an error that names the operation.
    public func blob(_ name: String) throws(VipsError) -> Data {
        guard case .blob(let data)? = value(name) else { throw missing(name) }
        return data
    }

    private func missing(_ name: String) -> VipsError {
        VipsError(operation: nickname, message: "\(nickname): no output named \(name)")
    }
}
