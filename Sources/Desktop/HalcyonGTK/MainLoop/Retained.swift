import CGtk4

/// A value that GLib or GTK keeps by a pointer.
final class Retained<Value> {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }

    /// A pointer with a reference, to be released by `release`.
    static func pointer(_ value: Value) -> gpointer {
        Unmanaged.passRetained(Retained(value)).toOpaque()
    }

    static func value(_ pointer: gpointer) -> Value {
        Unmanaged<Retained>.fromOpaque(pointer).takeUnretainedValue().value
    }
}

func releaseRetained(_ pointer: gpointer?) {
    if let pointer { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
}
