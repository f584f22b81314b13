#pragma once
#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

/* How errors leave libjpeg: by longjmp() to `exit`, with its words in `message`. Whoever calls libjpeg
   calls setjmp() first. Warnings are counted; nothing is ever printed. */
typedef struct {
    /* The first member, so that libjpeg's pointer to it is one to the whole. */
    struct jpeg_error_mgr manager;
    jmp_buf exit;
    char message[JMSG_LENGTH_MAX];
} cjpeg_failure;

/* What the `err` of a codec has to be. */
struct jpeg_error_mgr *cjpeg_failure_manager(cjpeg_failure *failure);

/* Leaves as libjpeg does, with other words. */
_Noreturn void cjpeg_fail(j_common_ptr info, const char *message);
