#pragma once
#include "CPixels.h"

/* What the sets of kernels share. */

/* 128, the centre of Cb and Cr, in Q6. */
#define Q6_HALF (128 << 6)

/* The factors of BT.601 in Q15, as far as they are not whole: red is Y + (1 + 0.402) Cr, blue is
   Y + (2 - 0.228) Cb, green is Y - 0.344136 Cb - (1 - 0.285864) Cr. */
#define RED_BY_CR 13173
#define BLUE_BY_CB (-7471)
#define GREEN_BY_CB (-11277)
#define GREEN_BY_CR 9367

static inline int16_t saturated(int32_t value) {
    return value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : (int16_t)value;
}

/* A Q6 sample times a Q15 factor. */
static inline int16_t product(int16_t sample, int32_t factor) {
    return (int16_t)((sample * factor + (1 << 14)) >> 15);
}

/* The byte of a Q6 sample. */
static inline uint8_t rounded(int16_t sample) {
    int32_t value = saturated(sample + 32) >> 6;
    return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value;
}

void portable_ycbcr_to_rgb(
    const int16_t *y, const int16_t *cb, const int16_t *cr, uint8_t *rgb, size_t count);
void portable_pack_rgb(
    const int16_t *r, const int16_t *g, const int16_t *b, uint8_t *rgb, size_t count);

void portable_inverse_8(const float *coefficients, uint8_t *samples, ptrdiff_t bytes_per_row);
void portable_inverse_4(const float *coefficients, uint8_t *samples, ptrdiff_t bytes_per_row);
void avx2_inverse_8(const float *coefficients, uint8_t *samples, ptrdiff_t bytes_per_row);
void avx2_inverse_4(const float *coefficients, uint8_t *samples, ptrdiff_t bytes_per_row);
