#include "CPNG.h"
#include "Paeth.h"

#include <string.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

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
