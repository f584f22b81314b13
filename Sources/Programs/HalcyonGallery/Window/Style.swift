import CGtk4

/// The style sheet: on top of the theme, in colours that follow it.
@MainActor enum Style {
    static func install() {
        let provider = gtk_css_provider_new()
        gtk_css_provider_load_from_data(provider, sheet, -1)
        gtk_style_context_add_provider_for_display(
            gdk_display_get_default(), OpaquePointer(provider),
            guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
        g_object_unref(UnsafeMutableRawPointer(provider))
    }

    private static let sheet = """
        halcyon { background: alpha(currentColor, 0.06); border-radius: 8px; }
        halcyon halcyon, halcyon.bare { background: none; border-radius: 0; }
        flowboxchild { padding: 0; }
        flowboxchild:hover { background: none; }
        gridview { background: none; padding: 12px 18px; }
        gridview > child { padding: 5px; border-radius: 10px; }
        stacksidebar row { padding-top: 5px; padding-bottom: 5px; }
        .page-title { font-size: 21px; font-weight: 800; }
        .page-text { opacity: 0.7; }
        .tile-title { font-weight: 600; }
        .use { font-size: 13px; color: @theme_selected_bg_color; font-weight: 600; }
        .detail { font-size: 12px; opacity: 0.65; }
        .statistics { padding: 14px 16px 16px 16px; border-top: 1px solid alpha(currentColor, 0.12); }
        .statistics-title { font-size: 11px; font-weight: 700; opacity: 0.55; }
        .figure { font-feature-settings: "tnum"; font-size: 12px; font-weight: 600; }
        .figure-name { font-size: 12px; opacity: 0.7; }
        .placeholder { opacity: 0.6; }
        .swatch-title { font-weight: 700; padding: 6px 10px; border-radius: 6px; }
        """
}
