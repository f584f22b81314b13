#include "CPixels.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

/* One pixel: the light that each of its samples adds, in steps of the target's table. */
static inline void convert(
    const uint8_t *source, uint8_t *target, const float *light, const uint8_t *samples) {
    const float *red = light + 4 * source[0];
    const float *green = light + 4 * (256 + source[1]);
    const float *blue = light + 4 * (512 + source[2]);
#if defined(__x86_64__)
    __m128 sum = _mm_add_ps(
        _mm_add_ps(_mm_loadu_ps(red), _mm_loadu_ps(green)), _mm_loadu_ps(blue));
    sum = _mm_max_ps(sum, _mm_setzero_ps());
    sum = _mm_min_ps(sum, _mm_set1_ps(CPIXELS_LIGHT_STEPS));
    __m128i steps = _mm_cvtps_epi32(sum);
    target[0] = samples[_mm_cvtsi128_si32(steps)];
    target[1] = samples[_mm_cvtsi128_si32(_mm_srli_si128(steps, 4))];
    target[2] = samples[_mm_cvtsi128_si32(_mm_srli_si128(steps, 8))];
#else
    for (int c = 0; c < 3; c++) {
        float sum = red[c] + green[c] + blue[c];
        sum = sum < 0 ? 0 : sum > CPIXELS_LIGHT_STEPS ? CPIXELS_LIGHT_STEPS : sum;
        target[c] = samples[(int)(sum + 0.5f)];
    }
#endif
}

void cpixels_convert_colours(
    const uint8_t *source, uint8_t *target, size_t count, int channels, const float *light,
    const uint8_t *samples) {
    if (channels == 3) {
        for (size_t i = 0; i < 3 * count; i += 3) convert(source + i, target + i, light, samples);
        return;
    }
    for (size_t i = 0; i < 4 * count; i += 4) {
        uint8_t alpha = source[i + 3];
        convert(source + i, target + i, light, samples);
        target[i + 3] = alpha;
    }
}
