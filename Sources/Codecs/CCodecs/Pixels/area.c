#include "CPixels.h"

/* Red, green, blue and opacity side by side. */
typedef float quad __attribute__((vector_size(16), may_alias));

/* A pixel's colours times its opacity, and that itself, on the scale of its samples. */
static inline quad weighed(const void *row, size_t x, bool is_deep) {
    if (is_deep) {
        const uint16_t *pixel = (const uint16_t *)row + 4 * x;
        return (quad) {pixel[0], pixel[1], pixel[2], 65535} * (pixel[3] * (1.0f / 65535));
    }
    const uint8_t *pixel = (const uint8_t *)row + 4 * x;
    return (quad) {pixel[0], pixel[1], pixel[2], 255} * (pixel[3] * (1.0f / 255));
}

static inline void average(
    const void *row, size_t width, bool is_deep, quad *restrict out, size_t count) {
    const double scale = (double)width / (double)count;
    for (size_t i = 0; i < count; i++) {
        double from = (double)i * scale, to = i + 1 == count ? (double)width : from + scale;
        size_t first = (size_t)from, last = (size_t)to;
        quad sum = weighed(row, first, is_deep) * (float)((double)(first + 1) - from);
        for (size_t x = first + 1; x < last; x++) sum += weighed(row, x, is_deep);
        /* A part of the next pixel, which the last one of a row does not have. */
        if (last < width) sum += weighed(row, last, is_deep) * (float)(to - (double)last);
        out[i] = sum * (float)(1 / scale);
    }
}

void cpixels_average_row(
    const void *rgba, size_t width, bool is_deep, float *out, size_t count) {
    if (is_deep) {
        average(rgba, width, true, (quad *)out, count);
    } else {
        average(rgba, width, false, (quad *)out, count);
    }
}

void cpixels_add_row(const float *row, float weight, size_t count, float *sums) {
    for (size_t i = 0; i < 4 * count; i++) sums[i] += weight * row[i];
}
