#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
