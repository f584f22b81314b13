#include "CPNG.h"

#include <string.h>

void cpng_add_alpha(const uint8_t *rgb, uint8_t *rgba, size_t count) {
    for (size_t i = 0; i < count; i++, rgb += 3, rgba += 4) {
        memcpy(rgba, rgb, 3);
        rgba[3] = 255;
    }
}

void cpng_add_alpha_16(const uint16_t *rgb, uint16_t *rgba, size_t count) {
    for (size_t i = 0; i < count; i++, rgb += 3, rgba += 4) {
        memcpy(rgba, rgb, 3 * sizeof *rgb);
        rgba[3] = 65535;
    }
}

void cpng_blend(const uint8_t *source, uint8_t *target, size_t count) {
    for (size_t i = 0; i < count; i++, source += 4, target += 4) {
        if (source[3] == 255 || target[3] == 0) {
            memcpy(target, source, 4);
        } else if (source[3] > 0) {
            /* Opacities are multiplied by 255 here, so that nothing is lost before the end. */
            unsigned front = source[3] * 255u;
            unsigned back = (255u - source[3]) * target[3];
            unsigned sum = front + back;
            for (int c = 0; c < 3; c++) {
                target[c] = (uint8_t)((source[c] * front + target[c] * back + sum / 2) / sum);
            }
            target[3] = (uint8_t)((sum + 127) / 255);
        }
    }
}

void cpng_blend_16(const uint16_t *source, uint16_t *target, size_t count) {
    for (size_t i = 0; i < count; i++, source += 4, target += 4) {
        if (source[3] == 65535 || target[3] == 0) {
            memcpy(target, source, 4 * sizeof *source);
        } else if (source[3] > 0) {
            uint64_t front = source[3] * 65535ull;
            uint64_t back = (65535ull - source[3]) * target[3];
            uint64_t sum = front + back;
            for (int c = 0; c < 3; c++) {
                target[c] = (uint16_t)((source[c] * front + target[c] * back + sum / 2) / sum);
            }
            target[3] = (uint16_t)((sum + 32767) / 65535);
        }
    }
}

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
