#include "kernels.h"

/* Weighted sums of rows */

/* For rows of one type of sample; `shift` brings the sums back to their scale. */
#define BLEND_FUNCTION(blend, sample, shift) \
    static void blend( \
        const sample *const *rows, const int16_t *taps, size_t tap_count, int16_t *out, \
        size_t count) { \
        for (size_t block = 0; block < count; block += CPIXELS_BLOCK) { \
            int32_t sums[CPIXELS_BLOCK]; \
            for (int i = 0; i < CPIXELS_BLOCK; i++) sums[i] = 1 << (shift - 1); \
            for (size_t k = 0; k < tap_count; k++) { \
                const sample *row = rows[k] + block; \
                int32_t tap = taps[k]; \
                for (int i = 0; i < CPIXELS_BLOCK; i++) sums[i] += tap * row[i]; \
            } \
            for (int i = 0; i < CPIXELS_BLOCK; i++) out[block + i] = saturated(sums[i] >> shift); \
        } \
    }

BLEND_FUNCTION(blend_bytes, uint8_t, 8)
BLEND_FUNCTION(blend_words, int16_t, 14)

/* Weighted sums within a row */

static void filter_row(
    const int16_t *row, const int32_t *starts, const int16_t *taps, size_t tap_count, int16_t *out,
    size_t count) {
    /* Where the chunk of each of eight neighbours is among their taps. */
    static const int places[CPIXELS_GROUP] = {0, 2, 4, 6, 1, 3, 5, 7};
    for (size_t group = 0; group < count; group += CPIXELS_GROUP) {
        const int16_t *of_group = taps + group * tap_count;
        for (int i = 0; i < CPIXELS_GROUP; i++) {
            const int16_t *samples = row + starts[group + i];
            int32_t sum = 1 << 13;
            for (size_t k = 0; k < tap_count; k += CPIXELS_GROUP) {
                const int16_t *chunk = of_group + k * CPIXELS_GROUP + places[i] * CPIXELS_GROUP;
                for (int j = 0; j < CPIXELS_GROUP; j++) sum += chunk[j] * samples[k + j];
            }
            out[group + i] = saturated(sum >> 14);
        }
    }
}

/* Colours */

void portable_ycbcr_to_rgb(
    const int16_t *y, const int16_t *cb, const int16_t *cr, uint8_t *rgb, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int16_t blue = saturated(cb[i] - Q6_HALF);
        int16_t red = saturated(cr[i] - Q6_HALF);
        int16_t r = saturated(red + product(red, RED_BY_CR));
        int16_t b = saturated(saturated(blue + blue) + product(blue, BLUE_BY_CB));
        int16_t g = saturated(product(blue, GREEN_BY_CB) + product(red, GREEN_BY_CR));
        g = saturated(g - red);
        rgb[3 * i] = rounded(saturated(y[i] + r));
        rgb[3 * i + 1] = rounded(saturated(y[i] + g));
        rgb[3 * i + 2] = rounded(saturated(y[i] + b));
    }
}

void portable_pack_rgb(
    const int16_t *r, const int16_t *g, const int16_t *b, uint8_t *rgb, size_t count) {
    for (size_t i = 0; i < count; i++) {
        rgb[3 * i] = rounded(r[i]);
        rgb[3 * i + 1] = rounded(g[i]);
        rgb[3 * i + 2] = rounded(b[i]);
    }
}

const cpixels_kernels *cpixels_portable(void) {
    static const cpixels_kernels kernels = {
        .blend_bytes = blend_bytes,
        .blend_words = blend_words,
        .filter_row = filter_row,
        .ycbcr_to_rgb = portable_ycbcr_to_rgb,
        .pack_rgb = portable_pack_rgb,
        .inverse_8 = portable_inverse_8,
        .inverse_4 = portable_inverse_4,
    };
    return &kernels;
}
