#include "CPixels.h"

void cpixels_split(
    const int16_t *interleaved, int channels, size_t count, int16_t *const *planes) {
    int16_t *restrict a = planes[0], *restrict b = planes[1], *restrict c = planes[2];
    if (channels == 3) {
        for (size_t i = 0; i < count; i++) {
            a[i] = interleaved[3 * i];
            b[i] = interleaved[3 * i + 1];
            c[i] = interleaved[3 * i + 2];
        }
        return;
    }
    int16_t *restrict d = planes[3];
    for (size_t i = 0; i < count; i++) {
        a[i] = interleaved[4 * i];
        b[i] = interleaved[4 * i + 1];
        c[i] = interleaved[4 * i + 2];
        d[i] = interleaved[4 * i + 3];
    }
}

void cpixels_premultiply(const uint8_t *rgba, size_t count, int16_t *out) {
    for (size_t i = 0; i < 4 * count; i += 4) {
        int alpha = rgba[i + 3];
        out[i] = (int16_t)((rgba[i] * alpha + 2) >> 2);
        out[i + 1] = (int16_t)((rgba[i + 1] * alpha + 2) >> 2);
        out[i + 2] = (int16_t)((rgba[i + 2] * alpha + 2) >> 2);
        out[i + 3] = (int16_t)((255 * alpha + 2) >> 2);
    }
}

static uint8_t byte_of(float value) {
    return value <= 0 ? 0 : value >= 255 ? 255 : (uint8_t)(value + 0.5f);
}

void cpixels_unpremultiply(
    const int16_t *const *planes, size_t count, uint8_t *rgba) {
    const int16_t *r = planes[0], *g = planes[1], *b = planes[2], *a = planes[3];
    for (size_t i = 0; i < count; i++) {
        float alpha = a[i] * (4.0f / 255.0f);
        float factor = a[i] > 0 ? 255.0f / a[i] : 0;
        rgba[4 * i] = byte_of(r[i] * factor);
        rgba[4 * i + 1] = byte_of(g[i] * factor);
        rgba[4 * i + 2] = byte_of(b[i] * factor);
        rgba[4 * i + 3] = byte_of(alpha);
    }
}

void cpixels_orient(
    const uint8_t *source, size_t width, size_t height, int channels, int orientation,
    uint8_t *target) {
    if (width == 0 || height == 0) return;
    /* Steps in the source, in pixels, for a step to the right and one down in the target. */
    ptrdiff_t w = (ptrdiff_t)width, h = (ptrdiff_t)height;
    ptrdiff_t start = 0, right = 1, down = w;
    switch (orientation) {
    case 2: start = w - 1; right = -1; down = w; break;
    case 3: start = w * h - 1; right = -1; down = -w; break;
    case 4: start = w * (h - 1); right = 1; down = -w; break;
    case 5: start = 0; right = w; down = 1; break;
    case 6: start = w * (h - 1); right = -w; down = 1; break;
    case 7: start = w * h - 1; right = -w; down = -1; break;
    case 8: start = w - 1; right = w; down = -1; break;
    default: break;
    }
    ptrdiff_t columns = orientation >= 5 ? h : w, rows = orientation >= 5 ? w : h;
    for (ptrdiff_t y = 0; y < rows; y++) {
        const uint8_t *from = source + (start + y * down) * channels;
        for (ptrdiff_t x = 0; x < columns; x++, from += right * channels) {
            for (int c = 0; c < channels; c++) *target++ = from[c];
        }
    }
}

void cpixels_flatten(const uint8_t *rgba, size_t count, uint8_t *rgb) {
    for (size_t i = 0; i < count; i++) {
        int alpha = rgba[4 * i + 3];
        for (int c = 0; c < 3; c++) {
            int sum = rgba[4 * i + c] * alpha + 255 * (255 - alpha);
            rgb[3 * i + c] = (uint8_t)((sum + 127) / 255);
        }
    }
}

void cpixels_spread(int16_t *samples, size_t count, bool is_chroma) {
    const int32_t zero = (is_chroma ? 128 : 16) << 6, base = is_chroma ? 128 << 6 : 0;
    const int32_t steps = is_chroma ? 224 : 219, factor = ((255 << 14) + steps / 2) / steps;
    for (size_t i = 0; i < count; i++) {
        int32_t value = (((samples[i] - zero) * factor + (1 << 13)) >> 14) + base;
        value = value < INT16_MIN ? INT16_MIN : value;
        samples[i] = (int16_t)(value > INT16_MAX ? INT16_MAX : value);
    }
}
