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

void cjpeg_fail(j_common_ptr info, const char *message) {
    cjpeg_failure *failure = (cjpeg_failure *)info->err;
    snprintf(failure->message, sizeof failure->message, "%s", message);
    longjmp(failure->exit, 1);
}
