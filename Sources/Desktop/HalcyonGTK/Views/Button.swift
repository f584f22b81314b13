import CGtk4
public import Halcyon

/// A button with an image and a background for each state, all of which `kf` can load.
@MainActor open class Button: ImageControl, KFCrossPlatformButton {
    /// A button without pictures.
    public init() {
        super.init(button: gtk_button_new())
    }

    /// Whether it is switched on, which is a state that it does not change by itself.
    public var isSelected: Bool {
        get { state.contains(.selected) }
        set {
            if newValue {
                gtk_widget_set_state_flags(gtkWidget, GTK_STATE_FLAG_SELECTED, 0)
            } else {
                gtk_widget_unset_state_flags(gtkWidget, GTK_STATE_FLAG_SELECTED)
            }
        }
    }

    public func image(for state: ControlState) -> KFCrossPlatformImage? {
        face[.image, state]
    }

    public func setImage(_ image: KFCrossPlatformImage?, for state: ControlState) {
        face[.image, state] = image
    }

    public func backgroundImage(for state: ControlState) -> KFCrossPlatformImage? {
        face[.background, state]
    }

    public func setBackgroundImage(_ image: KFCrossPlatformImage?, for state: ControlState) {
        face[.background, state] = image
    }
}

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
        get { face[.image, .normal] }
        set { face[.image, .normal] = newValue }
    }

    public var alternateImage: KFCrossPlatformImage? {
        get { face[.image, .selected] }
        set { face[.image, .selected] = newValue }
    }

    private var pointer: UnsafeMutablePointer<GtkToggleButton> { gtkWidget.cast() }
}
