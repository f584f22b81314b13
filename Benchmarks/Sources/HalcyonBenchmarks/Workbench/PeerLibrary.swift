/// A library of Python that does what Halcyon does; the raw value is its name for `worker.py`.
enum PeerLibrary: String, Sendable, CaseIterable {
    /// The libvips of the system, the one that Halcyon uses.
    case systemVips = "system-vips"
    /// The newest libvips, as the package pyvips-binary brings it.
    case bundledVips = "bundled-vips"
    case pillow
    case openCV = "opencv"
    /// numpy: the exact reference that quality is measured against. Never a contestant.
    case reference

    /// As printed.
    var name: String {
        switch self {
        case .systemVips: "libvips (system)"
        case .bundledVips: "libvips (newest)"
        case .pillow: "Pillow"
        case .openCV: "OpenCV"
        case .reference: "numpy"
        }
    }
}
