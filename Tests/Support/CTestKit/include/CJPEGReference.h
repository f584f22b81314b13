#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What libjpeg makes of a file, for comparison, and files to compare with. Nothing of it is used by the
   library: it serves tests, fuzzing and measurement. */

typedef struct {
    size_t width;
    size_t height;
    size_t bytes_per_row;
    uint8_t *samples;
} cjpegref_plane;

typedef struct {
    /* 1 or 3; 0 when nothing was decoded. */
    int plane_count;
    cjpegref_plane planes[3];
    /* The file was decoded to its end, perhaps with warnings. */
    bool is_complete;
    long warning_count;
    /* The last error or warning, in libjpeg's words. */
    char message[200];
} cjpegref_picture;

/* Decodes a file of one or three components at 1/denominator (1, 2, 4 or 8) into planes of raw data.
   Pictures of more blocks than `block_limit` are not decoded. */
void cjpegref_decode(
    const uint8_t *bytes, size_t count, int denominator, size_t block_limit,
    cjpegref_picture *picture);
void cjpegref_free_picture(cjpegref_picture *picture);

/* Decodes as above, strip by strip into the same memory, for measurement. False on failure. */
bool cjpegref_decode_strips(const uint8_t *bytes, size_t count, int denominator);

typedef struct {
    size_t width;
    size_t height;
    /* Multiplied with their steps; rows of width coefficients: blocks side by side. */
    int16_t *values;
} cjpegref_coefficients;

/* The coefficients of a component. False on failure or when there is none. */
bool cjpegref_read_coefficients(
    const uint8_t *bytes, size_t count, int component, cjpegref_coefficients *coefficients);
void cjpegref_free_coefficients(cjpegref_coefficients *coefficients);

typedef struct {
    size_t width;
    size_t height;
    /* 1 (grey) or 3 (RGB). */
    int channels;
    int quality;
    /* Of the first component; the others have 1. */
    int horizontal_sampling;
    int vertical_sampling;
    bool is_optimised;
    bool is_progressive;
    /* Which scans a progressive file has: 0 those that libjpeg suggests, 1 a few bands without further bits,
       2 many of few bits. */
    int scans;
    bool is_arithmetic;
    /* Units between restart markers; 0 for none. */
    int restart_interval;
    /* Writes the components as they are: no Y, Cb and Cr. */
    bool keeps_rgb;
} cjpegref_options;

/* Encodes rows of width × channels bytes. The result is to be freed with free(); NULL on failure. */
uint8_t *cjpegref_encode(const uint8_t *pixels, cjpegref_options options, size_t *count);
