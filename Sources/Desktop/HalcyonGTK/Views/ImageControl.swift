import CGtk4
public import Halcyon

/// What buttons have in common: a picture for each state, and another one behind it.
@MainActor open class ImageControl: View {
    let face = ButtonFace()

    /// Called when the user has clicked, or pressed a key to the same end.
    public var onClick: (@MainActor () -> Void)?

    init(button: UnsafeMutablePointer<GtkWidget>) {
        super.init(widget: button)
        gtk_button_set_child(
            UnsafeMutableRawPointer(button).assumingMemoryBound(to: GtkButton.self), face.gtkWidget)
        Signal.connect(button, "clicked") { [weak self] in self?.onClick?() }
        Signal.connect(button, "state-flags-changed") { [weak self] in
            self?.updateState()
        }
        updateState()
    }

    /// The state whose pictures are shown: of those there are pictures for, the one that has most in
    /// common with this and nothing else.
    public var state: ControlState { face.state }

    /// Whether it can be clicked; `true` by default.
    public var isEnabled: Bool {
        get { gtk_widget_get_sensitive(gtkWidget) != 0 }
        set { gtk_widget_set_sensitive(gtkWidget, newValue ? 1 : 0) }
    }

    /// How the image lies in the button; as large as possible by default. The background takes all of it.
    public var placement: PicturePlacement {
        get { face.placement }
        set { face.placement = newValue }
    }

    /// What is drawn now, in front of the background.
    public var picture: Picture? { face.image }

    /// What is drawn now, behind the image.
    public var backgroundPicture: Picture? { face.background }

    private func updateState() {
        face.state = ControlState(gtk_widget_get_state_flags(gtkWidget))
    }
}

extension ControlState {
    /// The states that GTK knows too.
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
