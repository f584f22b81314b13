#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    size_t width;
    size_t height;
    size_t bytes_per_row;
    /* 1…100. */
    int quality;
    /* Whether chroma is stored with half the width and height. */
    bool halves_chroma;
    bool is_progressive;
} cjpeg_writing;

/* The file; `bytes` is freed with free(). NULL when it could not be written, and then `message` says why,
   in libjpeg's words. */
typedef struct {
    uint8_t *bytes;
    size_t count;
    char message[200];
} cjpeg_written;

/* Writes RGB bytes as a JPEG file. */
cjpeg_written cjpeg_write(const uint8_t *rgb, cjpeg_writing writing);
