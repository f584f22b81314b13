extension ImageFormat {
    /// The formats that can be read on this machine, in the order of `allCases`. PDF is among them
    /// although it is read only when `DecodingLimits.allowsPDF` is set.
    public static var readable: [ImageFormat] {
        allCases.filter { format in ImageDecoders.all.contains { $0.canDecode(format) } }
    }

    /// The formats that can be written on this machine, in the order of `allCases`.
    public static var writable: [ImageFormat] {
        allCases.filter { format in ImageEncoders.all.contains { $0.canEncode(format) } }
    }
}
