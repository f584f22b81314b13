#include "CPNG.h"

#include <string.h>

void cpng_unpack(const uint8_t *packed, uint8_t *samples, size_t count, int bits) {
    const int mask = (1 << bits) - 1;
    const size_t per_byte = 8 / (size_t)bits;
    for (size_t i = 0; i < count; i++) {
        int shift = 8 - bits - (int)(i % per_byte) * bits;
        samples[i] = (uint8_t)(packed[i / per_byte] >> shift & mask);
    }
}

void cpng_expand_grey(const uint8_t *grey, uint8_t *rgb, size_t count) {
    for (size_t i = 0; i < count; i++, rgb += 3) rgb[0] = rgb[1] = rgb[2] = grey[i];
}

void cpng_expand_grey_alpha(const uint8_t *grey_alpha, uint8_t *rgba, size_t count) {
    for (size_t i = 0; i < count; i++, rgba += 4) {
        rgba[0] = rgba[1] = rgba[2] = grey_alpha[2 * i];
        rgba[3] = grey_alpha[2 * i + 1];
    }
}

void cpng_expand_palette(
    const uint8_t *indices, const uint8_t *palette, uint8_t *pixels, size_t count, int channels) {
    if (channels == 4) {
        for (size_t i = 0; i < count; i++) memcpy(pixels + 4 * i, palette + 4 * indices[i], 4);
        return;
    }
    if (count == 0) return;
    /* Four bytes at once; the fourth is that of the next pixel. */
    for (size_t i = 0; i + 1 < count; i++) {
        memcpy(pixels + 3 * i, palette + 4 * indices[i], 4);
    }
    memcpy(pixels + 3 * (count - 1), palette + 4 * indices[count - 1], 3);
}

void cpng_expand_rgb_key(const uint8_t *rgb, const uint8_t key[3], uint8_t *rgba, size_t count) {
    for (size_t i = 0; i < count; i++, rgb += 3, rgba += 4) {
        memcpy(rgba, rgb, 3);
        rgba[3] = memcmp(rgb, key, 3) == 0 ? 0 : 255;
    }
}

bool cpng_is_opaque(const uint8_t *rgba, size_t count) {
    /* In pieces, so that the loop has no way out and can be done with SIMD. */
    const size_t piece = 1024;
    for (size_t start = 0; start < count; start += piece) {
        size_t end = count - start < piece ? count : start + piece;
        uint8_t all = 255;
        for (size_t i = start; i < end; i++) all &= rgba[4 * i + 3];
        if (all != 255) return false;
    }
    return true;
}

void cpng_drop_alpha(const uint8_t *rgba, uint8_t *rgb, size_t count) {
    if (count == 0) return;
    for (size_t i = 0; i + 1 < count; i++) memcpy(rgb + 3 * i, rgba + 4 * i, 4);
    memcpy(rgb + 3 * (count - 1), rgba + 4 * (count - 1), 3);
}
