#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Decodes a JPEG file that is in memory, at 1, 1/2, 1/4 or 1/8 of its size: to the planes it is stored
   in, strip by strip, or to RGB rows. Errors of libjpeg, which leave by longjmp(), stay in here. A file
   that ends too soon is an error; a mere warning is none. A reader is used by one thread. */
typedef struct cjpeg_reader cjpeg_reader;

typedef struct {
    size_t width;
    size_t height;
    /* 1 (grey) or 3 (YCbCr); 0 for what is not read here. */
    int channels;
} cjpeg_reader_header;

typedef struct {
    /* Samples that mean something. */
    size_t width;
    size_t height;
    /* The picture's size in samples of this plane; less than `width` and `height` where the last samples
       are only partly covered. */
    double extent_x;
    double extent_y;
    /* Bytes of each row that are written. */
    size_t row_capacity;
    /* Rows of one strip. */
    size_t strip_height;
} cjpeg_plane;

/* The bytes are the file. They stay the caller's, until the reader is destroyed. NULL when there is no
   memory. */
cjpeg_reader *cjpeg_reader_create(const uint8_t *bytes, size_t count);
void cjpeg_reader_destroy(cjpeg_reader *reader);

/* The first step. False on failure, as everything below. */
bool cjpeg_reader_open(cjpeg_reader *reader, cjpeg_reader_header *header);

/* Begins to decode at one over `denominator`; planes[0] is luminance, the others chroma. */
bool cjpeg_reader_start_planes(cjpeg_reader *reader, int denominator, cjpeg_plane planes[3]);

/* Decodes the next strip: `strip_height` rows of each plane, also where the plane ends before them.
   rows[plane][row] has room for `row_capacity` bytes. */
bool cjpeg_reader_read_strip(cjpeg_reader *reader, uint8_t **const *rows);

/* Decodes everything at one over `denominator`; `width` and `height` are the picture's, divided and
   rounded up. */
bool cjpeg_reader_read_rgb(
    cjpeg_reader *reader, int denominator, size_t width, size_t height, uint8_t *pixels,
    size_t bytes_per_row);

/* Decodes everything and writes it as orientation 2…8 of EXIF shows it, without ever holding the picture
   twice. `width` and `height` are as stored; `strip` has room for 16 rows of them. */
bool cjpeg_reader_read_turned(
    cjpeg_reader *reader, size_t width, size_t height, int orientation, uint8_t *strip,
    uint8_t *pixels);

/* Whether the coded data of all scans goes on to their last pixel. Instead of all other steps; decodes
   everything, at an eighth of the size. */
bool cjpeg_reader_is_whole(cjpeg_reader *reader);

/* What went wrong, in libjpeg's words. */
const char *cjpeg_reader_message(const cjpeg_reader *reader);

typedef struct {
    size_t width;
    size_t height;
    size_t bytes_per_row;
    /* 1…100. */
    int quality;
    /* Whether chroma is stored with half the width and height. */
    bool halves_chroma;
    bool is_progressive;
} cjpeg_writing;

/* The file; `bytes` is freed with free(). NULL when it could not be written, and then `message` says why,
   in libjpeg's words. */
typedef struct {
    uint8_t *bytes;
    size_t count;
    char message[200];
} cjpeg_written;

/* Writes RGB bytes as a JPEG file. */
cjpeg_written cjpeg_write(const uint8_t *rgb, cjpeg_writing writing);
