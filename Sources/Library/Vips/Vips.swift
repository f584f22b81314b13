import CVips
import Synchronization

/// The libvips library as a whole: start-up, what it can do, and what it holds.
///
/// Every entry point of this module starts the library by itself, with the settings of a server: one
/// libvips thread per operation, no operation cache, no loader for formats that are not meant for
/// untrusted bytes.
///
/// Evaluation blocks the calling thread; never evaluate on Swift's cooperative pool.
public enum Vips {
    /// Starts libvips once for the process; later calls do nothing. May be called from any thread.
    ///
    /// Costs 20 to 40 ms, once, and fixes the thresholds of `malloc` as `fixMallocThresholds()` does.
    public static func start() {
        _ = startError
    }

    /// Starts libvips as ``start()`` does, without its modules: loading all of them takes 30 ms. For processes that have
    /// one thread, before anything else of this module.
    public static func startWithoutModules() {
        // It looks for them below this folder.
        setenv("VIPSHOME", "/nowhere", 1)
        start()
    }

    /// Fixes glibc's `M_MMAP_THRESHOLD` (1 MiB) and `M_TRIM_THRESHOLD` (2 MiB) for the whole process, once.
    ///
    /// Codecs take and free megabytes for each picture. Below these sizes the memory is there for the next
    /// one: fresh pages cost up to half as much as decoding into them. glibc's own thresholds move with
    /// what is freed, up to 64 MiB that each thread's heap may hold back.
    public static func fixMallocThresholds() {
        _ = mallocThresholds
    }

    /// The version of the running library, such as `8.14.1`.
    public static var version: String {
        start()
        return String(cString: vips_version_string())
    }

    /// Whether the operation with this nickname exists in the running library and is not refused.
    public static func supports(operation nickname: String) -> Bool {
        start()
        return vips_type_find("VipsOperation", nickname) != 0
            && OperationPolicy.refusal(of: nickname) == nil
    }

    /// The bytes of pixel memory that libvips holds in the whole process, right now.
    public static var trackedMemory: Int {
        start()
        return vips_tracked_get_mem()
    }

    /// The most that ``trackedMemory`` has been since the process began.
    public static var trackedMemoryHighWater: Int {
        start()
        return vips_tracked_get_mem_highwater()
    }

    /// The number of allocations that make up ``trackedMemory``, right now.
    public static var trackedAllocations: Int {
        start()
        return Int(vips_tracked_get_allocs())
    }

    /// Frees what libvips keeps for the calling thread. A thread pool calls it after each job.
    ///
    /// Without it, buffers stay cached on every foreign thread that evaluated an image. The error buffer
    /// needs no clearing: it is emptied whenever an operation begins or ends.
    ///
    /// Does nothing unless the library has been started; this does not start it.
    public static func endJob() {
        if isStarted.load(ordering: .acquiring) { vips_thread_shutdown() }
    }

    private static let mallocThresholds: Void = cvips_fix_malloc_thresholds(1 << 20, 2 << 20)
    private static let isStarted = Atomic(false)

    /// `nil` once libvips runs, or why it does not. The first access starts it.
    private static let startError: String? = {
        fixMallocThresholds()
        defer { isStarted.store(true, ordering: .releasing) }
        ErrorBuffer.captureWarnings()
        guard vips_init("halcyon") == 0 else {
            return ErrorBuffer.drain()
        }
        OpenCalls.closeAtExit()
        cvips_do_without_orc()
        vips_concurrency_set(1)
        vips_cache_set_max(0)
        vips_cache_set_max_mem(0)
        vips_cache_set_max_files(0)
        OperationPolicy.blockLoaders()
        return nil
    }()

    /// Starts the library and throws, in the name of `operation`, when it cannot run.
    static func requireStarted(for operation: String) throws(VipsError) {
        if let startError {
            throw VipsError(operation: operation, message: "libvips did not start: \(startError)")
        }
    }
}

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
