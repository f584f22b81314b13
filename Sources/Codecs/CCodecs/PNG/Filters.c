#include "CPNG.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* The value of left, above and above left that is nearest to left + above - above left; the first of
   equals. */
static inline uint8_t paeth(int a, int b, int c) {
    int pa = b - c, pb = a - c, pc = pa + pb;
    pa = pa < 0 ? -pa : pa;
    pb = pb < 0 ? -pb : pb;
    pc = pc < 0 ? -pc : pc;
    return (uint8_t)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

/* Filters that are put on */

/* Sums of the bytes of a row under each filter, taken as signed, without their signs. */
typedef struct {
    uint64_t none, sub, up, average, paeth;
} sums;

static inline unsigned magnitude(uint8_t byte) {
    return byte < 128 ? byte : 256u - byte;
}

/* Where the filtered rows are written. */
typedef struct {
    uint8_t *sub, *up, *average, *paeth;
} filtered;

static void filter_bytes(
    const uint8_t *row, const uint8_t *above, size_t from, size_t to, size_t n, filtered out,
    sums *sums) {
    for (size_t i = from; i < to; i++) {
        uint8_t x = row[i], b = above[i];
        uint8_t a = i < n ? 0 : row[i - n], c = i < n ? 0 : above[i - n];
        out.sub[i] = x - a;
        out.up[i] = x - b;
        out.average[i] = (uint8_t)(x - ((a + b) >> 1));
        out.paeth[i] = x - paeth(a, b, c);
        sums->none += magnitude(x);
        sums->sub += magnitude(out.sub[i]);
        sums->up += magnitude(out.up[i]);
        sums->average += magnitude(out.average[i]);
        sums->paeth += magnitude(out.paeth[i]);
    }
}

#if defined(__x86_64__)

static inline __m128i load(const uint8_t *bytes) {
    return _mm_loadu_si128((const __m128i *)bytes);
}

/* Two sums of eight bytes each. */
static inline __m128i magnitudes(__m128i bytes) {
    const __m128i zero = _mm_setzero_si128();
    return _mm_sad_epu8(_mm_min_epu8(bytes, _mm_sub_epi8(zero, bytes)), zero);
}

static inline uint64_t total(__m128i sums) {
    return (uint64_t)_mm_cvtsi128_si64(_mm_add_epi64(sums, _mm_srli_si128(sums, 8)));
}

static inline __m128i absolute(__m128i value) {
    return _mm_max_epi16(value, _mm_sub_epi16(_mm_setzero_si128(), value));
}

static inline __m128i choose(__m128i mask, __m128i yes, __m128i no) {
    return _mm_or_si128(_mm_and_si128(mask, yes), _mm_andnot_si128(mask, no));
}

/* The predictor for eight bytes, each in 16 bits. */
static inline __m128i paeth_half(__m128i a, __m128i b, __m128i c) {
    __m128i pa = _mm_sub_epi16(b, c), pb = _mm_sub_epi16(a, c);
    __m128i pc = absolute(_mm_add_epi16(pa, pb));
    pa = absolute(pa);
    pb = absolute(pb);
    __m128i least = _mm_min_epi16(pc, _mm_min_epi16(pa, pb));
    return choose(
        _mm_cmpeq_epi16(least, pa), a, choose(_mm_cmpeq_epi16(least, pb), b, c));
}

/* Sixteen bytes at a time: nothing here depends on the byte before. */
static size_t filter_blocks(
    const uint8_t *row, const uint8_t *above, size_t from, size_t to, size_t n, filtered out,
    sums *sums) {
    const __m128i zero = _mm_setzero_si128(), ones = _mm_set1_epi8(1);
    __m128i sum_none = zero, sum_sub = zero, sum_up = zero, sum_average = zero, sum_paeth = zero;
    size_t i = from;
    for (; i + 16 <= to; i += 16) {
        __m128i x = load(row + i), b = load(above + i);
        __m128i a = load(row + i - n), c = load(above + i - n);
        __m128i sub = _mm_sub_epi8(x, a), up = _mm_sub_epi8(x, b);
        __m128i mean = _mm_sub_epi8(
            _mm_avg_epu8(a, b), _mm_and_si128(_mm_xor_si128(a, b), ones));
        __m128i average = _mm_sub_epi8(x, mean);
        __m128i nearest = _mm_packus_epi16(
            paeth_half(
                _mm_unpacklo_epi8(a, zero), _mm_unpacklo_epi8(b, zero),
                _mm_unpacklo_epi8(c, zero)),
            paeth_half(
                _mm_unpackhi_epi8(a, zero), _mm_unpackhi_epi8(b, zero),
                _mm_unpackhi_epi8(c, zero)));
        __m128i paeth = _mm_sub_epi8(x, nearest);
        _mm_storeu_si128((__m128i *)(out.sub + i), sub);
        _mm_storeu_si128((__m128i *)(out.up + i), up);
        _mm_storeu_si128((__m128i *)(out.average + i), average);
        _mm_storeu_si128((__m128i *)(out.paeth + i), paeth);
        sum_none = _mm_add_epi64(sum_none, magnitudes(x));
        sum_sub = _mm_add_epi64(sum_sub, magnitudes(sub));
        sum_up = _mm_add_epi64(sum_up, magnitudes(up));
        sum_average = _mm_add_epi64(sum_average, magnitudes(average));
        sum_paeth = _mm_add_epi64(sum_paeth, magnitudes(paeth));
    }
    sums->none += total(sum_none);
    sums->sub += total(sum_sub);
    sums->up += total(sum_up);
    sums->average += total(sum_average);
    sums->paeth += total(sum_paeth);
    return i;
}

#else

static size_t filter_blocks(
    const uint8_t *row, const uint8_t *above, size_t from, size_t to, size_t n, filtered out,
    sums *sums) {
    (void)row, (void)above, (void)to, (void)n, (void)out, (void)sums;
    return from;
}

#endif

void cpng_filter(
    const uint8_t *row, const uint8_t *above, uint8_t *output, size_t count, size_t n,
    uint8_t *scratch) {
    size_t stride = count + 32;
    filtered out = {
        .sub = scratch,
        .up = scratch + stride,
        .average = scratch + 2 * stride,
        .paeth = scratch + 3 * stride,
    };
    sums sums = {0, 0, 0, 0, 0};
    size_t head = n < count ? n : count;
    filter_bytes(row, above, 0, head, n, out, &sums);
    size_t done = filter_blocks(row, above, head, count, n, out, &sums);
    filter_bytes(row, above, done, count, n, out, &sums);

    const uint8_t *best = row;
    uint64_t least = sums.none;
    output[0] = 0;
    const uint8_t *rows[] = {out.sub, out.up, out.average, out.paeth};
    uint64_t totals[] = {sums.sub, sums.up, sums.average, sums.paeth};
    for (uint8_t filter = 1; filter <= 4; filter++) {
        if (totals[filter - 1] < least) {
            least = totals[filter - 1];
            best = rows[filter - 1];
            output[0] = filter;
        }
    }
    memcpy(output + 1, best, count);
}

/* Filters that are taken off */

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

static inline __m128i load_pixel(const uint8_t *bytes) {
    int32_t value;
    memcpy(&value, bytes, 4);
    return _mm_cvtsi32_si128(value);
}

static inline void store_pixel(uint8_t *bytes, __m128i pixel) {
    int32_t value = _mm_cvtsi128_si32(pixel);
    memcpy(bytes, &value, 4);
}

INLINE size_t sub_pixels(
    const uint8_t *stored, uint8_t *row, size_t count, const size_t n) {
    __m128i left = _mm_setzero_si128();
    size_t i = 0;
    for (; i + 4 <= count; i += n) {
        left = _mm_add_epi8(left, load_pixel(stored + i));
        store_pixel(row + i, left);
    }
    return i;
}

INLINE size_t average_pixels(
    const uint8_t *stored, const uint8_t *above, uint8_t *row, size_t count, const size_t n) {
    const __m128i ones = _mm_set1_epi8(1);
    __m128i left = _mm_setzero_si128();
    size_t i = 0;
    for (; i + 4 <= count; i += n) {
        __m128i up = load_pixel(above + i);
        /* The instruction rounds up, the format down. */
        __m128i excess = _mm_and_si128(_mm_xor_si128(left, up), ones);
        __m128i mean = _mm_sub_epi8(_mm_avg_epu8(left, up), excess);
        left = _mm_add_epi8(mean, load_pixel(stored + i));
        store_pixel(row + i, left);
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
        __m128i b = _mm_cvtepu8_epi16(load_pixel(above + i));
        __m128i x = _mm_cvtepu8_epi16(load_pixel(stored + i));
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
        store_pixel(row + i, _mm_packus_epi16(a, zero));
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
