import CGtk4
public import Halcyon

/// The base class of buttons with an image and a background image for each state.
@MainActor open class ImageControl: View {
    let face = ButtonFace()

    /// Called when the user activates the button by click or key.
    public var onClick: (@MainActor () -> Void)?

    init(button: UnsafeMutablePointer<GtkWidget>) {
        super.init(widget: button)
        gtk_button_set_child(button.cast(), face.gtkWidget)
        Signal.connect(button, "clicked") { [weak self] in self?.onClick?() }
        Signal.connect(button, "state-flags-changed") { [weak self] in
            self?.updateState()
        }
        updateState()
    }

    /// The state of the button. It shows the pictures of the largest subset of it that has one.
    public var state: ControlState { face.state }

    /// Whether it can be clicked; `true` by default.
    public var isEnabled: Bool {
        get { gtk_widget_get_sensitive(gtkWidget) != 0 }
        set { gtk_widget_set_sensitive(gtkWidget, newValue ? 1 : 0) }
    }

    /// The placement of the image in the button; as large as possible by default. The background
    /// fills the button.
    public var placement: PicturePlacement {
        get { face.placement }
        set { face.placement = newValue }
    }

    /// The current image, in front of the background.
    public var picture: Picture? { face.picture(in: .image) }

    /// The current background, behind the image.
    public var backgroundPicture: Picture? { face.picture(in: .background) }

    private func updateState() {
        face.state = ControlState(gtk_widget_get_state_flags(gtkWidget))
    }
}

extension ControlState {
    fileprivate init(_ flags: GtkStateFlags) {
        let pairs: [(GtkStateFlags, ControlState)] = [
            (GTK_STATE_FLAG_ACTIVE, .highlighted), (GTK_STATE_FLAG_INSENSITIVE, .disabled),
            (GTK_STATE_FLAG_CHECKED, .selected), (GTK_STATE_FLAG_SELECTED, .selected),
            (GTK_STATE_FLAG_FOCUSED, .focused),
        ]
        self = []
        for (flag, state) in pairs where flags.rawValue & flag.rawValue != 0 { insert(state) }
    }
}
