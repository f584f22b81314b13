import CGtk4
public import Halcyon

/// A button that is on or off, with an image, and another one for when it is on.
@MainActor open class ToggleButton: ImageControl, KFCrossPlatformToggleButton {
    /// A button without pictures that is off.
    public init() {
        super.init(button: gtk_toggle_button_new())
    }

    /// Whether it is on.
    public var isOn: Bool {
        get { gtk_toggle_button_get_active(pointer) != 0 }
        set { gtk_toggle_button_set_active(pointer, newValue ? 1 : 0) }
    }

    public var image: KFCrossPlatformImage? {
        get { face.image(for: .normal) }
        set { face.setImage(newValue, for: .normal) }
    }

    public var alternateImage: KFCrossPlatformImage? {
        get { face.image(for: .selected) }
        set { face.setImage(newValue, for: .selected) }
    }

    private var pointer: UnsafeMutablePointer<GtkToggleButton> {
        UnsafeMutableRawPointer(gtkWidget).assumingMemoryBound(to: GtkToggleButton.self)
    }
}
