#pragma once
#include <glib-unix.h>
#include <gtk/gtk.h>
/* The renderer by OpenGL: comes with GTK, but not by gtk.h of older ones, and newer ones warn of this name. */
#if __has_include(<gsk/gl/gskglrenderer.h>)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-W#warnings"
#include <gsk/gl/gskglrenderer.h>
#pragma clang diagnostic pop
#endif

/* libdispatch exports these two for main loops other than its own, but no header declares them. */
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *message);

/* gtk_accessible_update_property() is variadic. */
static inline void cgtk_set_accessible_description(GtkWidget *widget, const char *text) {
    gtk_accessible_update_property(
        GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
}

static inline void cgtk_set_accessible_name(GtkWidget *widget, const char *text) {
    gtk_accessible_update_property(
        GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

/* As the next one, of the name. */
static inline char *cgtk_check_accessible_name(GtkWidget *widget, const char *text) {
    return gtk_test_accessible_check_property(
        GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, text);
}

/* gtk_test_accessible_check_property() is variadic. NULL when the description is `text`, else what it
   is instead, to be freed. */
static inline char *cgtk_check_accessible_description(GtkWidget *widget, const char *text) {
    return gtk_test_accessible_check_property(
        GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text);
}

/* The members of GLib's structures belong, for Swift, to whichever module has included them first, so
   they are reached from here. */
static inline unsigned int cgtk_reference_count(void *object) {
    return (unsigned int)g_atomic_int_get((int *)&((GObject *)object)->ref_count);
}

static inline void cgtk_set_dispose(GtkWidgetClass *methods, void (*dispose)(GObject *)) {
    G_OBJECT_CLASS(methods)->dispose = dispose;
}

static inline void cgtk_dispose_widget(GObject *widget) {
    G_OBJECT_CLASS(g_type_class_peek(GTK_TYPE_WIDGET))->dispose(widget);
}

/* A class of widgets without members of its own. */
static inline GType cgtk_register_widget_class(const char *name, GClassInitFunc fill_in) {
    const GTypeInfo info = {
        .class_size = sizeof(GtkWidgetClass),
        .class_init = fill_in,
        .instance_size = sizeof(GtkWidget),
    };
    return g_type_register_static(GTK_TYPE_WIDGET, name, &info, (GTypeFlags)0);
}

/* Sets a property whose values are of an enumeration. */
static inline void cgtk_set_accessible_role(GtkWidget *widget, GtkAccessibleRole role) {
    g_object_set(widget, "accessible-role", role, NULL);
}

/* Whether the desktop wants animations; g_object_get() is variadic. */
static inline gboolean cgtk_animations_are_enabled(GtkWidget *widget) {
    gboolean enabled = TRUE;
    g_object_get(gtk_widget_get_settings(widget), "gtk-enable-animations", &enabled, NULL);
    return enabled;
}

/* As a user does in the settings of the desktop; g_object_set() is variadic. */
static inline void cgtk_enable_animations(GtkWidget *widget, gboolean enabled) {
    g_object_set(gtk_widget_get_settings(widget), "gtk-enable-animations", enabled, NULL);
}

/* Emits what a click of the first button emits, if `controller` waits for clicks; g_signal_emit_by_name()
   is variadic. */
static inline void cgtk_emit_click(void *controller) {
    if (GTK_IS_GESTURE_CLICK(controller))
        g_signal_emit_by_name(controller, "released", 1, 1.0, 1.0);
}

/* Emits what a turn of the wheel emits, if `controller` waits for it. */
static inline void cgtk_emit_scroll(void *controller, double x, double y) {
    gboolean taken = FALSE;
    if (GTK_IS_EVENT_CONTROLLER_SCROLL(controller))
        g_signal_emit_by_name(controller, "scroll", x, y, &taken);
}

/* Emits what a press of the first button emits, the `count`th in a row, if `controller` waits for clicks. */
static inline void cgtk_emit_press(void *controller, int count) {
    if (GTK_IS_GESTURE_CLICK(controller))
        g_signal_emit_by_name(controller, "pressed", count, 1.0, 1.0);
}

/* Emits what the pointer emits, if `controller` waits for it: "motion" of GtkEventControllerMotion, and "drag-begin" and
   "drag-update" of GtkGestureDrag. */
static inline void cgtk_emit_point(void *controller, const char *signal, double x, double y) {
    if (g_signal_lookup(signal, G_OBJECT_TYPE(controller)))
        g_signal_emit_by_name(controller, signal, x, y);
}

/* URIs of the files of a value that is dropped or pasted, to be freed with g_strfreev(); NULL for another value. */
static inline char **cgtk_file_uris(const GValue *value) {
    if (value == NULL || !G_VALUE_HOLDS(value, GDK_TYPE_FILE_LIST)) return NULL;
    GStrvBuilder *uris = g_strv_builder_new();
    for (GSList *file = (GSList *)g_value_get_boxed(value); file != NULL; file = file->next) {
        char *uri = g_file_get_uri((GFile *)file->data);
        g_strv_builder_add(uris, uri);
        g_free(uri);
    }
    char **result = g_strv_builder_end(uris);
    g_strv_builder_unref(uris);
    return result;
}

/* Emits what a drop of a file emits. */
static inline gboolean cgtk_emit_file_drop(void *target, const char *path) {
    GSList file = {.data = g_file_new_for_path(path)};
    GValue value = G_VALUE_INIT;
    gboolean taken = FALSE;
    g_value_init(&value, GDK_TYPE_FILE_LIST);
    g_value_set_boxed(&value, &file);
    g_signal_emit_by_name(target, "drop", &value, 1.0, 1.0, &taken);
    g_value_unset(&value);
    g_object_unref(file.data);
    return taken;
}

/* G_OBJECT_TYPE_NAME() is a macro. */
static inline const char *cgtk_type_name(void *object) { return G_OBJECT_TYPE_NAME(object); }

/* g_signal_emit_by_name() is variadic. */
static inline void cgtk_emit(void *object, const char *signal) {
    g_signal_emit_by_name(object, signal);
}
