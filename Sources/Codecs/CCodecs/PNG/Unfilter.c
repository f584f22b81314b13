#include "CPNG.h"
#include "Paeth.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { filter_none, filter_sub, filter_up, filter_average, filter_paeth };

/* Any distance between a byte and the one it builds on */

static void unfilter_up(const uint8_t *stored, const uint8_t *above, uint8_t *row, size_t count) {
    for (size_t i = 0; i < count; i++) row[i] = stored[i] + above[i];
}

static void unfilter_sub(const uint8_t *stored, uint8_t *row, size_t from, size_t count, size_t n) {
    for (size_t i = from; i < count; i++) row[i] = stored[i] + (i < n ? 0 : row[i - n]);
}

static void unfilter_average(
    const uint8_t *stored, const uint8_t *above, uint8_t *row, size_t from, size_t count,
    size_t n) {
    for (size_t i = from; i < count; i++) {
        row[i] = (uint8_t)(stored[i] + (((i < n ? 0 : row[i - n]) + above[i]) >> 1));
    }
}

static void unfilter_paeth(
    const uint8_t *stored, const uint8_t *above, uint8_t *row, size_t from, size_t count,
    size_t n) {
    for (size_t i = from; i < count; i++) {
        row[i] = stored[i]
            + (i < n ? above[i] : paeth(row[i - n], above[i], above[i - n]));
    }
}

#if defined(__x86_64__)

/* Pixels of 3 or 4 bytes, one at a time, their bytes side by side. Four bytes are read and written for
   each but the last; of pixels of three the fourth is that of the next one, written again in turn. The loops
   are compiled for each size. */

#define INLINE static inline __attribute__((always_inline))

static inline __m128i load(const uint8_t *bytes) {
    int32_t value;
    memcpy(&value, bytes, 4);
    return _mm_cvtsi32_si128(value);
}

static inline void store(uint8_t *bytes, __m128i pixel) {
    int32_t value = _mm_cvtsi128_si32(pixel);
    memcpy(bytes, &value, 4);
}

INLINE size_t sub_pixels(
    const uint8_t *stored, uint8_t *row, size_t count, const size_t n) {
    __m128i left = _mm_setzero_si128();
    size_t i = 0;
    for (; i + 4 <= count; i += n) {
        left = _mm_add_epi8(left, load(stored + i));
        store(row + i, left);
    }
    return i;
}

INLINE size_t average_pixels(
    const uint8_t *stored, const uint8_t *above, uint8_t *row, size_t count, const size_t n) {
    const __m128i ones = _mm_set1_epi8(1);
    __m128i left = _mm_setzero_si128();
    size_t i = 0;
    for (; i + 4 <= count; i += n) {
        __m128i up = load(above + i);
        /* The instruction rounds up, the format down. */
        __m128i excess = _mm_and_si128(_mm_xor_si128(left, up), ones);
        __m128i mean = _mm_sub_epi8(_mm_avg_epu8(left, up), excess);
        left = _mm_add_epi8(mean, load(stored + i));
        store(row + i, left);
    }
    return i;
}

__attribute__((target("sse4.1"))) static inline size_t paeth_pixels(
    const uint8_t *stored, const uint8_t *above, uint8_t *row, size_t count, const size_t n) {
    const __m128i zero = _mm_setzero_si128();
    const __m128i low = _mm_set1_epi16(0xFF);
    __m128i a = zero, c = zero;
    size_t i = 0;
    for (; i + 4 <= count; i += n) {
        __m128i b = _mm_cvtepu8_epi16(load(above + i));
        __m128i x = _mm_cvtepu8_epi16(load(stored + i));
        __m128i pa = _mm_sub_epi16(b, c);
        __m128i pb = _mm_sub_epi16(a, c);
        __m128i pc = _mm_abs_epi16(_mm_add_epi16(pa, pb));
        pa = _mm_abs_epi16(pa);
        pb = _mm_abs_epi16(pb);
        __m128i least = _mm_min_epi16(pc, _mm_min_epi16(pa, pb));
        __m128i nearest = _mm_blendv_epi8(
            _mm_blendv_epi8(c, b, _mm_cmpeq_epi16(least, pb)), a, _mm_cmpeq_epi16(least, pa));
        c = b;
        a = _mm_and_si128(_mm_add_epi16(nearest, x), low);
        store(row + i, _mm_packus_epi16(a, zero));
    }
    return i;
}

__attribute__((target("sse4.1"))) static size_t paeth_3(
    const uint8_t *stored, const uint8_t *above, uint8_t *row, size_t count) {
    return paeth_pixels(stored, above, row, count, 3);
}

__attribute__((target("sse4.1"))) static size_t paeth_4(
    const uint8_t *stored, const uint8_t *above, uint8_t *row, size_t count) {
    return paeth_pixels(stored, above, row, count, 4);
}

#endif

/* As far as the fast loops go; the generic ones do the rest. */
static size_t begin(
    uint8_t filter, const uint8_t *stored, const uint8_t *above, uint8_t *row, size_t count,
    size_t n) {
#if defined(__x86_64__)
    if (n != 3 && n != 4) return 0;
    switch (filter) {
    case filter_sub:
        return n == 3 ? sub_pixels(stored, row, count, 3) : sub_pixels(stored, row, count, 4);
    case filter_average:
        return n == 3 ? average_pixels(stored, above, row, count, 3)
                      : average_pixels(stored, above, row, count, 4);
    case filter_paeth:
        if (!__builtin_cpu_supports("sse4.1")) return 0;
        return n == 3 ? paeth_3(stored, above, row, count) : paeth_4(stored, above, row, count);
    }
#else
    (void)filter, (void)stored, (void)above, (void)row, (void)count, (void)n;
#endif
    return 0;
}

bool cpng_unfilter(
    uint8_t filter, const uint8_t *stored, const uint8_t *above, uint8_t *row, size_t count,
    size_t n) {
    size_t done = begin(filter, stored, above, row, count, n);
    switch (filter) {
    case filter_none:
        memcpy(row, stored, count);
        return true;
    case filter_sub:
        unfilter_sub(stored, row, done, count, n);
        return true;
    case filter_up:
        unfilter_up(stored, above, row, count);
        return true;
    case filter_average:
        unfilter_average(stored, above, row, done, count, n);
        return true;
    case filter_paeth:
        unfilter_paeth(stored, above, row, done, count, n);
        return true;
    }
    return false;
}
