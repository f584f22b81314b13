#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CJPEGReader.h"
#include "CJPEGWriter.h"

/* Decodes a progressive JPEG file while it arrives: each byte is entropy-decoded once, and the picture
   can be had after any scan. Errors of libjpeg, which leave by longjmp(), stay in here. A decoder is
   used by one thread at a time. */
typedef struct cjpeg_decoder cjpeg_decoder;

typedef enum {
    /* All is done that the bytes so far allow. */
    CJPEG_NEEDS_BYTES,
    /* The header has been read just now; nothing is allocated for the picture yet. */
    CJPEG_HEADER_READ,
    /* The end of the image has been reached. */
    CJPEG_ENDED,
    /* The file is damaged, or of a kind that is not read; for good. */
    CJPEG_FAILED,
} cjpeg_state;

typedef struct {
    size_t width;
    size_t height;
    /* Of the pixels read: 1 (grey) or 3 (RGB); 0 for colours that are not converted here. */
    int channels;
    bool is_progressive;
    /* Memory for the coefficients of all components, at least; taken when decoding goes on. */
    size_t coefficient_bytes;
} cjpeg_header;

/* NULL when there is no memory. */
cjpeg_decoder *cjpeg_create(void);
void cjpeg_destroy(cjpeg_decoder *decoder);

/* Decodes what can be decoded of the bytes. The first `*consumed` of them are done with; the others
   have to be handed over again, with more behind them. Goes on from CJPEG_HEADER_READ by allocating the
   picture. */
cjpeg_state cjpeg_consume(
    cjpeg_decoder *decoder, const uint8_t *bytes, size_t count, size_t *consumed);

/* What the first frame header says; later ones are errors. Valid once CJPEG_HEADER_READ was returned. */
cjpeg_header cjpeg_get_header(const cjpeg_decoder *decoder);

/* How many scans have been decoded to their end. */
int cjpeg_scan_count(const cjpeg_decoder *decoder);

/* Writes the picture of the scans decoded so far: rows from the top, without padding. False on failure, which
   a `capacity` below width × height × channels is too. */
bool cjpeg_read(cjpeg_decoder *decoder, uint8_t *pixels, size_t capacity);

/* What went wrong, in libjpeg's words; empty when nothing did. */
const char *cjpeg_message(const cjpeg_decoder *decoder);
