#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The inner loops of PNG (ISO/IEC 15948): whole-buffer zlib streams and checksums by libdeflate, which
   takes less than half of zlib's time, and row filters with SIMD where the processor has it. Nothing in
   here looks at lengths of a file: callers have checked them. */

/* Checksums and streams */

/* CRC-32 of the bytes, going on from `crc`; 0 to begin with. */
uint32_t cpng_crc32(uint32_t crc, const uint8_t *bytes, size_t count);

typedef enum {
    CPNG_OK,
    /* The stream is invalid, its checksum wrong, or it is too short. */
    CPNG_DAMAGED,
    /* The stream gives more than there is room for. */
    CPNG_TOO_LONG,
    CPNG_NO_MEMORY,
} cpng_result;

/* Inflates a zlib stream that gives at most `limit` bytes; `*size` is how many. Without `size` it must give as many.
   Its Adler-32 is verified. */
cpng_result cpng_inflate(
    const uint8_t *stream, size_t count, uint8_t *output, size_t limit, size_t *size);

/* The most bytes that a stream of `count` bytes takes. */
size_t cpng_compressed_bound(size_t count);

/* Writes a zlib stream at a level of 1 (fast) to 12 (small), and returns its length; 0 when `capacity` is too small, or
   when there is no memory. */
size_t cpng_compress(
    const uint8_t *bytes, size_t count, int level, uint8_t *output, size_t capacity);

/* Row filters */

/* Takes the filter off a row. `stored` has `count` bytes behind its filter byte, `above` the row above
   as pixels (zeros for the first one), `row` room for `count`; no two of them overlap. False for a
   filter that does not exist. */
bool cpng_unfilter(
    uint8_t filter, const uint8_t *stored, const uint8_t *above, uint8_t *row, size_t count,
    size_t bytes_per_pixel);

/* Puts the filter before a row that promises to compress best: the one whose bytes, taken as signed,
   have the least sum of absolute values. `output` has room for `count + 1` bytes, `scratch` for
   4 * (count + 32); `bytes_per_pixel` is at most 4. */
void cpng_filter(
    const uint8_t *row, const uint8_t *above, uint8_t *output, size_t count,
    size_t bytes_per_pixel, uint8_t *scratch);

/* Pixels */

/* Samples of 1, 2 or 4 bits, the first in the highest bits, as one byte each, unscaled. */
void cpng_unpack(const uint8_t *packed, uint8_t *samples, size_t count, int bits);

/* One grey byte becomes three. */
void cpng_expand_grey(const uint8_t *grey, uint8_t *rgb, size_t count);

/* Grey and alpha become RGBA. */
void cpng_expand_grey_alpha(const uint8_t *grey_alpha, uint8_t *rgba, size_t count);

/* Indices become 3 or 4 bytes; `palette` has 256 entries of 4 bytes. */
void cpng_expand_palette(
    const uint8_t *indices, const uint8_t *palette, uint8_t *pixels, size_t count, int channels);

/* RGB becomes RGBA; pixels of exactly the colour are transparent. */
void cpng_expand_rgb_key(const uint8_t *rgb, const uint8_t key[3], uint8_t *rgba, size_t count);

/* Whether the fourth byte of all pixels is 255. */
bool cpng_is_opaque(const uint8_t *rgba, size_t count);

/* RGBA loses its fourth byte. */
void cpng_drop_alpha(const uint8_t *rgba, uint8_t *rgb, size_t count);

/* Frames of animations */

/* RGB becomes RGBA that is opaque. */
void cpng_add_alpha(const void *rgb, void *rgba, size_t count);
void cpng_add_alpha_16(const void *rgb, void *rgba, size_t count);

/* Lays RGBA with straight alpha over RGBA (the PNG specification's section 13.16), rounded to the nearest. */
void cpng_blend(const void *source, void *target, size_t count);
void cpng_blend_16(const void *source, void *target, size_t count);

typedef struct {
    int left, top, width, height;
} cpng_area;

/* The least rectangle outside of which two pictures without padding are the same; its sides are 0 where
   they are the same everywhere. */
cpng_area cpng_difference(
    const uint8_t *before, const uint8_t *after, int width, int height, int channels);
