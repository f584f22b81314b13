import CVips

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
