#include "kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

/* The kernels with AVX2. The rest of the program is built for any x86-64: these functions are called
   only after asking the processor. */
#define AVX2 __attribute__((target("avx2"))) static

/* Two neighbouring taps in each 32 bits. */
AVX2 inline __m256i tap_pair(const int16_t *taps) {
    int32_t pair;
    memcpy(&pair, taps, sizeof pair);
    return _mm256_set1_epi32(pair);
}

AVX2 inline __m256i load(const void *bytes) {
    return _mm256_loadu_si256(bytes);
}

AVX2 void blend_bytes(
    const uint8_t *const *rows, const int16_t *taps, size_t tap_count, int16_t *out, size_t count) {
    const __m256i zero = _mm256_setzero_si256();
    for (size_t block = 0; block < count; block += CPIXELS_BLOCK) {
        __m256i sum0 = _mm256_set1_epi32(1 << 7), sum1 = sum0, sum2 = sum0, sum3 = sum0;
        for (size_t k = 0; k < tap_count; k += 2) {
            __m256i a = load(rows[k] + block), b = load(rows[k + 1] + block);
            __m256i pair = tap_pair(taps + k);
            __m256i low = _mm256_unpacklo_epi8(a, b), high = _mm256_unpackhi_epi8(a, b);
            sum0 = _mm256_add_epi32(
                sum0, _mm256_madd_epi16(_mm256_unpacklo_epi8(low, zero), pair));
            sum1 = _mm256_add_epi32(
                sum1, _mm256_madd_epi16(_mm256_unpackhi_epi8(low, zero), pair));
            sum2 = _mm256_add_epi32(
                sum2, _mm256_madd_epi16(_mm256_unpacklo_epi8(high, zero), pair));
            sum3 = _mm256_add_epi32(
                sum3, _mm256_madd_epi16(_mm256_unpackhi_epi8(high, zero), pair));
        }
        /* Samples 0…7 and 16…23, 8…15 and 24…31. */
        __m256i even = _mm256_packs_epi32(_mm256_srai_epi32(sum0, 8), _mm256_srai_epi32(sum1, 8));
        __m256i odd = _mm256_packs_epi32(_mm256_srai_epi32(sum2, 8), _mm256_srai_epi32(sum3, 8));
        _mm256_storeu_si256((__m256i *)(out + block), _mm256_permute2x128_si256(even, odd, 0x20));
        _mm256_storeu_si256(
            (__m256i *)(out + block + 16), _mm256_permute2x128_si256(even, odd, 0x31));
    }
}

AVX2 void blend_words(
    const int16_t *const *rows, const int16_t *taps, size_t tap_count, int16_t *out, size_t count) {
    for (size_t block = 0; block < count; block += 16) {
        __m256i low = _mm256_set1_epi32(1 << 13), high = low;
        for (size_t k = 0; k < tap_count; k += 2) {
            __m256i a = load(rows[k] + block), b = load(rows[k + 1] + block);
            __m256i pair = tap_pair(taps + k);
            low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), pair));
            high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), pair));
        }
        _mm256_storeu_si256(
            (__m256i *)(out + block),
            _mm256_packs_epi32(_mm256_srai_epi32(low, 14), _mm256_srai_epi32(high, 14)));
    }
}

/* Eight samples from each of two places. */
AVX2 inline __m256i load_two(const int16_t *low, const int16_t *high) {
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)low)),
        _mm_loadu_si128((const __m128i *)high), 1);
}

AVX2 void filter_row(
    const int16_t *row, const int32_t *starts, const int16_t *taps, size_t tap_count, int16_t *out,
    size_t count) {
    const __m256i half = _mm256_set1_epi32(1 << 13);
    for (size_t group = 0; group < count; group += CPIXELS_GROUP) {
        const int32_t *s = starts + group;
        __m256i ae = _mm256_setzero_si256(), bf = ae, cg = ae, dh = ae;
        for (size_t k = 0; k < tap_count; k += CPIXELS_GROUP, taps += 8 * CPIXELS_GROUP) {
            const int16_t *here = row + k;
            ae = _mm256_add_epi32(
                ae, _mm256_madd_epi16(load_two(here + s[0], here + s[4]), load(taps)));
            bf = _mm256_add_epi32(
                bf, _mm256_madd_epi16(load_two(here + s[1], here + s[5]), load(taps + 16)));
            cg = _mm256_add_epi32(
                cg, _mm256_madd_epi16(load_two(here + s[2], here + s[6]), load(taps + 32)));
            dh = _mm256_add_epi32(
                dh, _mm256_madd_epi16(load_two(here + s[3], here + s[7]), load(taps + 48)));
        }
        /* a b c d in the lower half, e f g h in the upper one. */
        __m256i sums = _mm256_hadd_epi32(_mm256_hadd_epi32(ae, bf), _mm256_hadd_epi32(cg, dh));
        sums = _mm256_srai_epi32(_mm256_add_epi32(sums, half), 14);
        __m128i words = _mm_packs_epi32(
            _mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
        _mm_storeu_si128((__m128i *)(out + group), words);
    }
}

/* Sixteen Q6 samples as bytes. */
AVX2 inline __m128i bytes_of(__m256i samples) {
    samples = _mm256_srai_epi16(_mm256_adds_epi16(samples, _mm256_set1_epi16(32)), 6);
    return _mm_packus_epi16(
        _mm256_castsi256_si128(samples), _mm256_extracti128_si256(samples, 1));
}

/* Writes the 48 bytes of sixteen pixels. A negative index of a shuffle gives 0. */
AVX2 inline void store_rgb(uint8_t *rgb, __m128i r, __m128i g, __m128i b) {
    const __m128i r0 = _mm_setr_epi8(0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1, 5);
    const __m128i g0 = _mm_setr_epi8(-1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1);
    const __m128i b0 = _mm_setr_epi8(-1, -1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1);
    const __m128i r1 = _mm_setr_epi8(-1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10, -1);
    const __m128i g1 = _mm_setr_epi8(5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10);
    const __m128i b1 = _mm_setr_epi8(-1, 5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1);
    const __m128i r2 =
        _mm_setr_epi8(-1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1, -1);
    const __m128i g2 =
        _mm_setr_epi8(-1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1);
    const __m128i b2 =
        _mm_setr_epi8(10, -1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15);
    __m128i first = _mm_or_si128(
        _mm_or_si128(_mm_shuffle_epi8(r, r0), _mm_shuffle_epi8(g, g0)), _mm_shuffle_epi8(b, b0));
    __m128i second = _mm_or_si128(
        _mm_or_si128(_mm_shuffle_epi8(r, r1), _mm_shuffle_epi8(g, g1)), _mm_shuffle_epi8(b, b1));
    __m128i third = _mm_or_si128(
        _mm_or_si128(_mm_shuffle_epi8(r, r2), _mm_shuffle_epi8(g, g2)), _mm_shuffle_epi8(b, b2));
    _mm_storeu_si128((__m128i *)rgb, first);
    _mm_storeu_si128((__m128i *)(rgb + 16), second);
    _mm_storeu_si128((__m128i *)(rgb + 32), third);
}

AVX2 void ycbcr_to_rgb(
    const int16_t *y, const int16_t *cb, const int16_t *cr, uint8_t *rgb, size_t count) {
    const __m256i centre = _mm256_set1_epi16(Q6_HALF);
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        __m256i light = load(y + i);
        __m256i blue = _mm256_subs_epi16(load(cb + i), centre);
        __m256i red = _mm256_subs_epi16(load(cr + i), centre);
        __m256i r =
            _mm256_adds_epi16(red, _mm256_mulhrs_epi16(red, _mm256_set1_epi16(RED_BY_CR)));
        __m256i b = _mm256_adds_epi16(
            _mm256_adds_epi16(blue, blue),
            _mm256_mulhrs_epi16(blue, _mm256_set1_epi16(BLUE_BY_CB)));
        __m256i g = _mm256_adds_epi16(
            _mm256_mulhrs_epi16(blue, _mm256_set1_epi16(GREEN_BY_CB)),
            _mm256_mulhrs_epi16(red, _mm256_set1_epi16(GREEN_BY_CR)));
        g = _mm256_subs_epi16(g, red);
        store_rgb(
            rgb + 3 * i, bytes_of(_mm256_adds_epi16(light, r)),
            bytes_of(_mm256_adds_epi16(light, g)), bytes_of(_mm256_adds_epi16(light, b)));
    }
    portable_ycbcr_to_rgb(y + i, cb + i, cr + i, rgb + 3 * i, count - i);
}

AVX2 void pack_rgb(
    const int16_t *r, const int16_t *g, const int16_t *b, uint8_t *rgb, size_t count) {
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        store_rgb(
            rgb + 3 * i, bytes_of(load(r + i)), bytes_of(load(g + i)), bytes_of(load(b + i)));
    }
    portable_pack_rgb(r + i, g + i, b + i, rgb + 3 * i, count - i);
}

const cpixels_kernels *cpixels_best(void) {
    static const cpixels_kernels kernels = {
        .blend_bytes = blend_bytes,
        .blend_words = blend_words,
        .filter_row = filter_row,
        .ycbcr_to_rgb = ycbcr_to_rgb,
        .pack_rgb = pack_rgb,
        .inverse_8 = avx2_inverse_8,
        .inverse_4 = avx2_inverse_4,
    };
    return __builtin_cpu_supports("avx2") ? &kernels : cpixels_portable();
}

#else

const cpixels_kernels *cpixels_best(void) {
    return cpixels_portable();
}

#endif
