#pragma once
#include <setjmp.h>
#include <stdbool.h>
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

/* Sets up a decoder that reads from `source`, which does `fill` where its bytes end and `skip` to pass over some.
   Keeps client_data; false when there is no memory, and then the decoder is to be thrown away. */
bool cjpeg_set_up(
    struct jpeg_decompress_struct *info, cjpeg_failure *failure, struct jpeg_source_mgr *source,
    boolean (*fill)(j_decompress_ptr), void (*skip)(j_decompress_ptr, long));

/* Leaves as libjpeg does, with other words. */
_Noreturn void cjpeg_fail(j_common_ptr info, const char *message);
