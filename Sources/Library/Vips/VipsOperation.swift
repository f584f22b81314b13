import CVips
public import Foundation

/// Any libvips operation, by its nickname: arguments are set by name, then it is run.
///
/// ```swift
/// var operation = VipsOperation("max")
/// operation.set("in", .image(image))
/// let brightest = try operation.run().double("out")
/// ```
///
/// A run that makes images only checks arguments and headers; pixels are computed when the image is
/// evaluated. A run that makes numbers or bytes evaluates its inputs on the calling thread.
public struct VipsOperation: Sendable {
    /// The operation's name in libvips, such as `extract_area`.
    public let nickname: String

    private var arguments: [(name: String, value: VipsValue)] = []

    public init(_ nickname: String) {
        self.nickname = nickname
    }

    /// Gives the argument a value; the last one counts.
    public mutating func set(_ name: String, _ value: VipsValue) {
        arguments.removeAll { $0.name == name }
        arguments.append((name, value))
    }

    /// Gives several arguments a value.
    public mutating func set(_ arguments: [String: VipsValue]) {
        for (name, value) in arguments { set(name, value) }
    }

    /// Runs the operation.
    ///
    /// An image that the operation draws into is copied first, so that images stay immutable.
    public func run() throws(VipsError) -> VipsOutputs {
        try run(input: nil)
    }

    /// Runs the operation with `input` as its first image argument, whatever that is called.
    func run(input: VipsImage?) throws(VipsError) -> VipsOutputs {
        try Vips.requireStarted(for: nickname)
        if let refusal = OperationPolicy.refusal(of: nickname) { throw failure(refusal) }
        guard vips_type_find("VipsOperation", nickname) != 0 else {
            throw failure("there is no such operation")
        }
        let lineage = lineage(with: input)
        return try ErrorBuffer.attempt(nickname, lineage: lineage) { () throws(VipsError) in
            guard let operation = vips_operation_new(nickname) else { return nil }
            let object = UnsafeMutableRawPointer(operation).assumingMemoryBound(to: VipsObject.self)
            // From here the outputs own the operation, built or not.
            let outputs = VipsOutputs(
                owning: object, nickname: nickname, lineage: lineage,
                signature: .of(object, nickname: nickname))
            if let input {
                guard let name = outputs.signature.imageInput else {
                    throw failure("the operation takes no image")
                }
                guard try set(name, .image(input), of: outputs) else { return nil }
            }
            for (name, value) in arguments {
                guard try set(name, value, of: outputs) else { return nil }
            }
            return vips_object_build(object) == 0 ? outputs : nil
        }
    }

    /// Sets one argument of a new operation; `false` when libvips has reported an error.
    private func set(
        _ name: String, _ value: VipsValue, of outputs: VipsOutputs
    ) throws(VipsError) -> Bool {
        guard let argument = outputs.signature.argument(name), argument.isInput else {
            throw failure("no input argument named \(name)")
        }
        var value = value
        if argument.isModified, case .image(let image) = value {
            guard let copy = image.privateCopy() else { return false }
            value = .image(copy)
        }
        return try withGValue(of: argument.type) { target throws(VipsError) in
            guard GValueCoder.set(target, to: value) else {
                let type = String(cString: g_type_name(argument.type))
                throw failure("\(name) cannot be \(value.text), it is a \(type)")
            }
            // GLib would print a warning and leave the argument alone.
            guard g_param_value_validate(argument.specification, target) == 0 else {
                throw failure("\(name) cannot be \(value.text), which is out of range")
            }
            UnsafeMutableRawPointer(outputs.object).withMemoryRebound(to: GObject.self, capacity: 1)
            {
                g_object_set_property($0, name, target)
            }
            return true
        }
    }

    private func lineage(with input: VipsImage?) -> Lineage {
        var lineage = input?.lineage ?? Lineage()
        for (_, value) in arguments {
            switch value {
            case .image(let image): lineage.formUnion(image.lineage)
            case .images(let images): for image in images { lineage.formUnion(image.lineage) }
            default: break
            }
        }
        lineage.insert(nickname)
        return lineage
    }

    private func failure(_ message: String) -> VipsError {
        VipsError(operation: nickname, message: "\(nickname): \(message)")
    }
}

/// The outputs of an operation, by argument name.
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
