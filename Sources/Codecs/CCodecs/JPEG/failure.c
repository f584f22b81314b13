#include "failure.h"

static void leave(j_common_ptr info) {
    cjpeg_failure *failure = (cjpeg_failure *)info->err;
    failure->manager.format_message(info, failure->message);
    longjmp(failure->exit, 1);
}

static void print_nothing(j_common_ptr info) {
    (void)info;
}

struct jpeg_error_mgr *cjpeg_failure_manager(cjpeg_failure *failure) {
    jpeg_std_error(&failure->manager);
    failure->manager.error_exit = leave;
    /* All that prints prints by this. */
    failure->manager.output_message = print_nothing;
    return &failure->manager;
}

static void do_nothing(j_decompress_ptr info) {
    (void)info;
}

bool cjpeg_set_up(
    struct jpeg_decompress_struct *info, cjpeg_failure *failure, struct jpeg_source_mgr *source,
    boolean (*fill)(j_decompress_ptr), void (*skip)(j_decompress_ptr, long)) {
    info->err = cjpeg_failure_manager(failure);
    if (setjmp(failure->exit)) {
        jpeg_destroy_decompress(info);
        return false;
    }
    /* Keeps client_data and err. */
    jpeg_create_decompress(info);
    source->init_source = do_nothing;
    source->fill_input_buffer = fill;
    source->skip_input_data = skip;
    source->resync_to_restart = jpeg_resync_to_restart;
    source->term_source = do_nothing;
    info->src = source;
    return true;
}

void cjpeg_fail(j_common_ptr info, const char *message) {
    cjpeg_failure *failure = (cjpeg_failure *)info->err;
    snprintf(failure->message, sizeof failure->message, "%s", message);
    longjmp(failure->exit, 1);
}
