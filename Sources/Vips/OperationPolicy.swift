import CVips

/// Which operations may run: the loaders that are made for untrusted bytes and have a caller who has
/// recognised the format, and everything that is not a loader.
enum OperationPolicy {
    /// Format names as loader nicknames spell them (`jpegload`, `jpegload_buffer`), with the libvips
    /// class that has to be admitted for each.
    private static let admittedLoaders = [
        "jpeg": "VipsForeignLoadJpeg",
        "png": "VipsForeignLoadPng",
        "webp": "VipsForeignLoadWebp",
        "gif": "VipsForeignLoadNsgif",
        "heif": "VipsForeignLoadHeif",
        "tiff": "VipsForeignLoadTiff",
        "jxl": "VipsForeignLoadJxl",
        "svg": "VipsForeignLoadSvg",
        "pdf": "VipsForeignLoadPdf",
    ]

    /// Operations that choose a loader by offering the bytes to every loader there is, blocked ones too.
    private static let loaderChoosers: Set = ["thumbnail", "thumbnail_buffer", "thumbnail_source"]

    /// Tells libvips to refuse all loaders but the admitted ones.
    static func blockLoaders() {
        vips_operation_block_set("VipsForeignLoad", 1)
        for className in admittedLoaders.values {
            vips_operation_block_set(className, 0)
        }
    }

    /// Why the operation may not run, or `nil` when it may.
    ///
    /// libvips' own block is tested only after some loaders have already parsed the file, so the
    /// decision is made here, before the operation is created.
    static func refusal(of nickname: String) -> String? {
        if loaderChoosers.contains(nickname) {
            return "operation is blocked: it would offer the bytes to every loader"
        }
        guard let range = nickname.firstRange(of: "load"),
            vips_type_find("VipsForeignLoad", nickname) != 0
        else { return nil }
        if admittedLoaders[String(nickname[..<range.lowerBound])] != nil { return nil }
        return "operation is blocked: this loader is not admitted"
    }
}
