#include "CPNG.h"

#include <string.h>

/* For samples of one type; a number of the type `wide` holds the product of three of them. */
#define FRAME_FUNCTIONS(sample, wide, most, add_alpha, blend) \
    void add_alpha(const void *rows, void *shown, size_t count) { \
        const sample *rgb = rows; \
        sample *rgba = shown; \
        for (size_t i = 0; i < count; i++, rgb += 3, rgba += 4) { \
            memcpy(rgba, rgb, 3 * sizeof *rgb); \
            rgba[3] = most; \
        } \
    } \
    \
    void blend(const void *rows, void *shown, size_t count) { \
        const sample *source = rows; \
        sample *target = shown; \
        for (size_t i = 0; i < count; i++, source += 4, target += 4) { \
            if (source[3] == most || target[3] == 0) { \
                memcpy(target, source, 4 * sizeof *source); \
            } else if (source[3] > 0) { \
                /* Opacities are multiplied by `most` here, so that nothing is lost before the end. */ \
                wide front = source[3] * (wide)most; \
                wide back = ((wide)most - source[3]) * target[3]; \
                wide sum = front + back; \
                for (int c = 0; c < 3; c++) { \
                    target[c] = (sample)((source[c] * front + target[c] * back + sum / 2) / sum); \
                } \
                target[3] = (sample)((sum + most / 2) / most); \
            } \
        } \
    }

FRAME_FUNCTIONS(uint8_t, uint32_t, 255, cpng_add_alpha, cpng_blend)
FRAME_FUNCTIONS(uint16_t, uint64_t, 65535, cpng_add_alpha_16, cpng_blend_16)

cpng_area cpng_difference(
    const uint8_t *before, const uint8_t *after, int width, int height, int channels) {
    size_t row = (size_t)width * (size_t)channels;
    int top = 0, bottom = height;
    while (top < height && memcmp(before + top * row, after + top * row, row) == 0) top++;
    if (top == height) return (cpng_area){0, 0, 0, 0};
    while (memcmp(before + (bottom - 1) * row, after + (bottom - 1) * row, row) == 0) bottom--;

    /* How many bytes are the same at both ends of all rows. */
    size_t head = row, tail = row;
    for (int y = top; y < bottom; y++) {
        const uint8_t *a = before + y * row, *b = after + y * row;
        size_t same = 0;
        while (same < head && a[same] == b[same]) same++;
        head = same;
        same = 0;
        while (same < tail && a[row - 1 - same] == b[row - 1 - same]) same++;
        tail = same;
    }
    int left = (int)(head / (size_t)channels);
    int right = width - (int)(tail / (size_t)channels);
    return (cpng_area){left, top, right - left, bottom - top};
}
