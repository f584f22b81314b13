import CGtk4
import Foundation
import HalcyonGTK

/// Pictures that come into a window: chosen, dropped or pasted.
@MainActor enum Exchange {
    /// Asks for files, and calls `body` with their URIs.
    static func chooseFiles(over window: Window, _ body: @escaping @MainActor ([String]) -> Void) {
        guard
            let chooser = gtk_file_chooser_native_new(
                "Open pictures", window.gtkWidget.cast(), GTK_FILE_CHOOSER_ACTION_OPEN, nil, nil)
        else { return }
        let pointer = OpaquePointer(UnsafeMutableRawPointer(chooser))
        gtk_file_chooser_set_select_multiple(pointer, 1)
        let object = UnsafeMutableRawPointer(chooser)
        Signal.connectPassingNumber(object, "response") { response in
            if response == Int(GTK_RESPONSE_ACCEPT.rawValue) { body(uris(of: pointer)) }
            // It is there until it has an answer.
            g_object_unref(object)
        }
        gtk_native_dialog_show(object.assumingMemoryBound(to: GtkNativeDialog.self))
    }

    private static func uris(of chooser: OpaquePointer) -> [String] {
        guard let files = gtk_file_chooser_get_files(chooser) else { return [] }
        defer { g_object_unref(UnsafeMutableRawPointer(files)) }
        return (0..<g_list_model_get_n_items(files)).compactMap { index in
            guard let file = g_list_model_get_item(files, index) else { return nil }
            defer { g_object_unref(file) }
            guard let uri = g_file_get_uri(OpaquePointer(file)) else { return nil }
            defer { g_free(uri) }
            return String(cString: uri)
        }
    }

    /// Calls `body` with the URIs of files that are dropped on `window`.
    static func takeDrops(on window: Window, _ body: @escaping @MainActor ([String]) -> Void) {
        guard let target = gtk_drop_target_new(gdk_file_list_get_type(), GDK_ACTION_COPY) else {
            return
        }
        Signal.connectPassingArgument(UnsafeMutableRawPointer(target), "drop") { value in
            body(uris(of: UnsafePointer<GValue>(value)))
        }
        gtk_widget_add_controller(window.gtkWidget, target)
    }

    private static func uris(of value: UnsafePointer<GValue>?) -> [String] {
        guard let uris = cgtk_file_uris(value) else { return [] }
        defer { g_strfreev(uris) }
        var (names, place): ([String], _) = ([], uris)
        while let uri = place.pointee {
            names.append(String(cString: uri))
            place += 1
        }
        return names
    }

    /// The content of the clipboard.
    enum Pasted {
        /// URIs of files, or lines of a text.
        case names([String])
        /// A PNG file.
        case picture(Data)
    }

    /// Reads the clipboard, and calls `body` if there is something that may be a picture.
    static func paste(into window: Window, _ body: @escaping @MainActor (Pasted) -> Void) {
        guard let clipboard = gtk_widget_get_clipboard(window.gtkWidget),
            let formats = gdk_clipboard_get_formats(clipboard)
        else { return }
        let data = Unmanaged.passRetained(Paste(body)).toOpaque()
        if gdk_content_formats_contain_gtype(formats, gdk_file_list_get_type()) != 0 {
            gdk_clipboard_read_value_async(
                clipboard, gdk_file_list_get_type(), G_PRIORITY_DEFAULT, nil,
                { clipboard, result, data in
                    nonisolated(unsafe) let value = gdk_clipboard_read_value_finish(
                        OpaquePointer(clipboard), result, nil)
                    Paste.end(data) { .names(Exchange.uris(of: value)) }
                }, data)
        } else if gdk_content_formats_contain_gtype(formats, gdk_texture_get_type()) != 0 {
            gdk_clipboard_read_texture_async(
                clipboard, nil,
                { clipboard, result, data in
                    nonisolated(unsafe) let texture = gdk_clipboard_read_texture_finish(
                        OpaquePointer(clipboard), result, nil)
                    Paste.end(data) { texture.map { .picture(Exchange.png(of: $0)) } }
                }, data)
        } else {
            gdk_clipboard_read_text_async(
                clipboard, nil,
                { clipboard, result, data in
                    let text = gdk_clipboard_read_text_finish(OpaquePointer(clipboard), result, nil)
                    defer { g_free(text) }
                    let lines = text.map { String(cString: $0).split(whereSeparator: \.isNewline) }
                    Paste.end(data) { lines.map { .names($0.map(String.init)) } }
                }, data)
        }
    }

    /// Takes over a reference.
    private static func png(of texture: OpaquePointer) -> Data {
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        guard let bytes = gdk_texture_save_to_png_bytes(texture) else { return Data() }
        defer { g_bytes_unref(bytes) }
        var count: gsize = 0
        guard let start = g_bytes_get_data(bytes, &count) else { return Data() }
        return Data(bytes: start, count: Int(count))
    }

    @MainActor private final class Paste {
        let body: @MainActor (Pasted) -> Void

        init(_ body: @escaping @MainActor (Pasted) -> Void) { self.body = body }

        /// GTK calls back on the main thread.
        nonisolated static func end(_ data: gpointer?, _ content: @MainActor () -> Pasted?) {
            guard let data else { return }
            let paste = Unmanaged<Paste>.fromOpaque(data).takeRetainedValue()
            MainActor.assumeIsolated {
                if let pasted = content() { paste.body(pasted) }
            }
        }
    }
}
