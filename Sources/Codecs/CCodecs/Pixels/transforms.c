#include "kernels.h"

#include <string.h>

/* Blocks of a JPEG file, from frequencies to samples.

   Written once with the vectors of the compiler, and built twice: for any processor, and inlined into
   the functions for AVX2. There is no fused multiplication in either, so both give the same bits. */

typedef float floats4 __attribute__((ext_vector_type(4)));
typedef float floats8 __attribute__((ext_vector_type(8)));
typedef float floats16 __attribute__((ext_vector_type(16)));
typedef int32_t words16 __attribute__((ext_vector_type(16)));
typedef uint32_t bits16 __attribute__((ext_vector_type(16)));
typedef uint8_t bytes16 __attribute__((ext_vector_type(16)));

#define INLINE static inline __attribute__((always_inline))

/* 1.5 · 2²³: what is added to it is rounded to a whole number, in the lowest bits. */
#define ROUNDING 12582912.0f
#define ROUNDING_BITS 0x4B400000u

/* Sixteen samples of values around 0, in the order they lie in. */
INLINE void bytes_of(const void *values, uint8_t *bytes) {
    floats16 shifted;
    memcpy(&shifted, values, sizeof shifted);
    shifted += ROUNDING + 128;
    words16 words = (words16)((bits16)shifted - ROUNDING_BITS);
    words = words < 0 ? 0 : words;
    words = words > 255 ? 255 : words;
    bytes16 samples = __builtin_convertvector(words, bytes16);
    memcpy(bytes, &samples, sizeof samples);
}

/* The inverse across eight vectors, in place. */
INLINE void inverse_8(floats8 *c) {
    floats8 sum04 = c[0] + c[4], difference04 = c[0] - c[4];
    floats8 sum26 = c[2] + c[6];
    floats8 difference26 = (c[2] - c[6]) * 1.414213562f - sum26;
    floats8 even0 = sum04 + sum26, even1 = difference04 + difference26;
    floats8 even2 = difference04 - difference26, even3 = sum04 - sum26;
    floats8 sum53 = c[5] + c[3], difference53 = c[5] - c[3];
    floats8 sum17 = c[1] + c[7], difference17 = c[1] - c[7];
    floats8 odd0 = sum17 + sum53;
    floats8 turned = (difference53 + difference17) * 1.847759065f;
    floats8 odd1 = turned - difference53 * 2.613125930f - odd0;
    floats8 odd2 = (sum17 - sum53) * 1.414213562f - odd1;
    floats8 odd3 = turned - difference17 * 1.082392200f - odd2;
    c[0] = even0 + odd0;
    c[7] = even0 - odd0;
    c[1] = even1 + odd1;
    c[6] = even1 - odd1;
    c[2] = even2 + odd2;
    c[5] = even2 - odd2;
    c[3] = even3 + odd3;
    c[4] = even3 - odd3;
}

/* Exchanges pairs of vectors' eighths, quarters and halves. */
INLINE void transpose_8(floats8 *m) {
    floats8 t[8];
    for (int i = 0; i < 8; i += 2) {
        t[i] = __builtin_shufflevector(m[i], m[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        t[i + 1] = __builtin_shufflevector(m[i], m[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int i = 0; i < 8; i += 4) {
        for (int j = i; j < i + 2; j++) {
            m[j] = __builtin_shufflevector(t[j], t[j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            m[j + 2] = __builtin_shufflevector(t[j], t[j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    }
    for (int i = 0; i < 4; i++) {
        floats8 low = m[i], high = m[i + 4];
        m[i] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 8, 9, 10, 11);
        m[i + 4] = __builtin_shufflevector(low, high, 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

INLINE void samples_8(const float *coefficients, uint8_t *samples, ptrdiff_t bytes_per_row) {
    floats8 c[8];
    memcpy(c, coefficients, sizeof c);
    inverse_8(c);
    transpose_8(c);
    inverse_8(c);
    for (int i = 0; i < 8; i += 2) {
        uint8_t bytes[16];
        bytes_of(c + i, bytes);
        memcpy(samples + i * bytes_per_row, bytes, 8);
        memcpy(samples + (i + 1) * bytes_per_row, bytes + 8, 8);
    }
}

INLINE void inverse_4(floats4 *c) {
    const float ratio = 2.414213562f;
    floats4 sum = c[0] + c[2], difference = c[0] - c[2];
    floats4 outer = c[1] * ratio + c[3], inner = c[1] - c[3] * ratio;
    c[0] = sum + outer;
    c[1] = difference + inner;
    c[2] = difference - inner;
    c[3] = sum - outer;
}

INLINE void transpose_4(floats4 *m) {
    floats4 a = __builtin_shufflevector(m[0], m[1], 0, 4, 1, 5);
    floats4 b = __builtin_shufflevector(m[0], m[1], 2, 6, 3, 7);
    floats4 c = __builtin_shufflevector(m[2], m[3], 0, 4, 1, 5);
    floats4 d = __builtin_shufflevector(m[2], m[3], 2, 6, 3, 7);
    m[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    m[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    m[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    m[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

INLINE void samples_4(const float *coefficients, uint8_t *samples, ptrdiff_t bytes_per_row) {
    floats4 c[4];
    memcpy(c, coefficients, sizeof c);
    inverse_4(c);
    transpose_4(c);
    inverse_4(c);
    uint8_t bytes[16];
    bytes_of(c, bytes);
    for (int i = 0; i < 4; i++) memcpy(samples + i * bytes_per_row, bytes + 4 * i, 4);
}

void portable_inverse_8(const float *coefficients, uint8_t *samples, ptrdiff_t bytes_per_row) {
    samples_8(coefficients, samples, bytes_per_row);
}

void portable_inverse_4(const float *coefficients, uint8_t *samples, ptrdiff_t bytes_per_row) {
    samples_4(coefficients, samples, bytes_per_row);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void avx2_inverse_8(
    const float *coefficients, uint8_t *samples, ptrdiff_t bytes_per_row) {
    samples_8(coefficients, samples, bytes_per_row);
}

__attribute__((target("avx2"))) void avx2_inverse_4(
    const float *coefficients, uint8_t *samples, ptrdiff_t bytes_per_row) {
    samples_4(coefficients, samples, bytes_per_row);
}
#endif
