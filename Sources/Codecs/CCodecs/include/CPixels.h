#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The inner loops of resampling and colour conversion, in integers, and of JPEG's blocks. Two sets of them are built: plain C
   for any processor, and one for x86-64 with AVX2 that is chosen when the program runs; both give the
   same bits.

   Samples on their way are int16_t with six fractional bits ("Q6": a byte times 64), which leaves room
   for what Lanczos shoots over; those of premultiplied pixels are 14 bits of colour times opacity.
   Weights ("taps") are Q14: 16384 is 1. */

#define CPIXELS_TAP_ONE 16384
/* A row that is blended is read and written in whole blocks of this many samples. */
#define CPIXELS_BLOCK 32
/* A target row is filtered in whole groups of this many samples, its taps in chunks of as many. */
#define CPIXELS_GROUP 8

typedef struct {
    /* out[i] = sum of taps[k] * rows[k][i], in Q6. `tap_count` is even; `count` is a multiple of
       CPIXELS_BLOCK, and all rows have as many bytes. */
    void (*blend_bytes)(
        const uint8_t *const *rows, const int16_t *taps, size_t tap_count, int16_t *out,
        size_t count);

    /* The same for rows of int16_t, which keep their scale. */
    void (*blend_words)(
        const int16_t *const *rows, const int16_t *taps, size_t tap_count, int16_t *out,
        size_t count);

    /* out[x] = sum of taps of x * row[starts[x] + k], in the scale of the row.

       `tap_count` and `count` are multiples of CPIXELS_GROUP; `row` is readable for `tap_count` samples
       from each start. The taps of eight neighbours a…h lie together, in chunks of eight: a, e, b, f, c,
       g, d, h; then their next chunks; then the next eight neighbours. */
    void (*filter_row)(
        const int16_t *row, const int32_t *starts, const int16_t *taps, size_t tap_count,
        int16_t *out, size_t count);

    /* Q6 of full-range YCbCr (ITU-R BT.601, as JFIF has it) to RGB bytes. */
    void (*ycbcr_to_rgb)(
        const int16_t *y, const int16_t *cb, const int16_t *cr, uint8_t *rgb, size_t count);

    /* Q6 of three planes to RGB bytes; all three may be the same plane. */
    void (*pack_rgb)(
        const int16_t *r, const int16_t *g, const int16_t *b, uint8_t *rgb, size_t count);

    /* Inverse cosine transforms of 8 * 8 and 4 * 4 coefficients, column by column, to rows of bytes.
       Coefficients of less than 2^17 in all come out as they should. Those of 8 are multiplied with
       the factors of Arai, Agui and Nakajima beforehand; those of 4 with 1/2 for even and
       sin(pi / 8) / sqrt(2) for odd rows and columns. 128 is added to the samples. */
    void (*inverse_8)(const float *coefficients, uint8_t *samples, ptrdiff_t bytes_per_row);
    void (*inverse_4)(const float *coefficients, uint8_t *samples, ptrdiff_t bytes_per_row);
} cpixels_kernels;

/* The fastest set that this processor runs. */
const cpixels_kernels *cpixels_best(void);
/* Plain C. */
const cpixels_kernels *cpixels_portable(void);

/* Interleaved samples to planes: `channels` is 3 or 4, planes[c] has `count` samples. */
void cpixels_split(
    const int16_t *interleaved, int channels, size_t count, int16_t *const *planes);

/* RGBA bytes with straight alpha to interleaved colour times opacity in 14 bits: 255 * 255 is 16256. */
void cpixels_premultiply(const uint8_t *rgba, size_t count, int16_t *out);

/* Planes of such products (red, green, blue, opacity) to RGBA bytes with straight alpha. */
void cpixels_unpremultiply(
    const int16_t *const *planes, size_t count, uint8_t *rgba);

/* Turns pixels as EXIF orientation 1…8 says. `width` and `height` are those of `source`; rows of both
   have no padding. */
void cpixels_orient(
    const uint8_t *source, size_t width, size_t height, int channels, int orientation,
    uint8_t *target);

/* Q6 of 16…235, or of chroma of 16…240 (ITU-R BT.601 for video), to Q6 of the full range, in place. */
void cpixels_spread(int16_t *samples, size_t count, bool is_chroma);

/* RGBA bytes with straight alpha on white paper, as RGB bytes. */
void cpixels_flatten(const uint8_t *rgba, size_t count, uint8_t *rgb);

/* A row of RGBA with straight alpha, of bytes or of 16 bits when it is deep, averaged to `count` pixels, at
   most a half of `width`: colours times opacity, and opacity, on the scale of the samples. Both pointers are
   aligned to 16 bytes. */
void cpixels_average_row(
    const void *rgba, size_t width, bool is_deep, float *out, size_t count);

/* Adds `weight` times a row of `count` such pixels to `sums`. */
void cpixels_add_row(const float *row, float weight, size_t count, float *sums);

/* Colours */

/* The light of a colour is between 0 and this. */
#define CPIXELS_LIGHT_STEPS 16383

/* Converts RGB, or RGBA whose opacity stays, to another space of colours. `light` has four numbers for each
   value of a sample, of red, then of green, then of blue: what it adds to the target's red, green and blue
   light, and nothing. `samples` are the target's for CPIXELS_LIGHT_STEPS + 1 steps of light. Source and
   target may be the same. */
void cpixels_convert_colours(
    const uint8_t *source, uint8_t *target, size_t count, int channels, const float *light,
    const uint8_t *samples);
