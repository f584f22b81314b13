import CVips

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
    /// Costs 20 to 40 ms, once. It also fixes glibc's `M_MMAP_THRESHOLD` (64 KiB) and `M_TRIM_THRESHOLD`
    /// (128 KiB) for the whole process, so that pixel buffers go back to the system when they are freed.
    public static func start() {
        _ = startError
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

    /// Frees what libvips keeps for the calling thread. A thread pool calls it after each job.
    ///
    /// Without it, buffers stay cached on every foreign thread that evaluated an image. The error buffer
    /// needs no clearing: it is emptied whenever an operation begins or ends.
    public static func endJob() {
        start()
        vips_thread_shutdown()
    }

    /// Gives free heap pages back to the system. Takes milliseconds.
    public static func trimMemory() {
        cvips_trim_heap()
    }

    /// `nil` once libvips runs, or why it does not. The first access starts it.
    private static let startError: String? = {
        // Smaller blocks are reused within the heap: with libc's own thresholds of the start, every
        // body and buffer of 128 KB would be mapped, cleared and unmapped again. Left alone, they
        // would grow to 32 MB.
        cvips_fix_malloc_thresholds(1 << 20, 8 << 20)
        ErrorBuffer.captureWarnings()
        guard vips_init("halcyon") == 0 else {
            return ErrorBuffer.drain()
        }
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
