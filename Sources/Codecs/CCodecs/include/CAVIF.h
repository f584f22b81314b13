#pragma once
#include <avif/avif.h>

/* The functions of libavif that are called. The library, with the encoders that it depends on, is loaded
   when the first file needs it: linked to a program, it would cost each of its starts 8 ms. */
#define CAVIF_FUNCTIONS(EACH) \
    EACH(version, avifVersion) \
    EACH(decoder_create, avifDecoderCreate) \
    EACH(decoder_destroy, avifDecoderDestroy) \
    EACH(decoder_set_memory, avifDecoderSetIOMemory) \
    EACH(decoder_parse, avifDecoderParse) \
    EACH(decoder_next_image, avifDecoderNextImage) \
    EACH(decoder_timing, avifDecoderNthImageTiming) \
    EACH(rgb_set_defaults, avifRGBImageSetDefaults) \
    EACH(image_to_rgb, avifImageYUVToRGB)

#define MEMBER(member, function) __typeof__(function) *member;
typedef struct {
    CAVIF_FUNCTIONS(MEMBER)
} cavif_functions;
#undef MEMBER

/* The functions, or NULL when the library is not installed. */
const cavif_functions *cavif_load(void);

/* Whether a mirrored picture has top and bottom exchanged (0), or left and right (1). The member has
   another name since libavif 1.0. */
static inline int cavif_mirror_axis(const avifImage *image) {
#if AVIF_VERSION_MAJOR >= 1
    return image->imir.axis;
#else
    return image->imir.mode;
#endif
}

static inline void cavif_set_mirror_axis(avifImage *image, int axis) {
#if AVIF_VERSION_MAJOR >= 1
    image->imir.axis = (uint8_t)axis;
#else
    image->imir.mode = (uint8_t)axis;
#endif
}

/* Gives a picture a copy of an ICC profile, for which memory can be lacking since libavif 1.0. */
static inline avifResult cavif_set_profile(avifImage *image, const uint8_t *profile, size_t size) {
#if AVIF_VERSION_MAJOR >= 1
    return avifImageSetProfileICC(image, profile, size);
#else
    avifImageSetProfileICC(image, profile, size);
    return AVIF_RESULT_OK;
#endif
}
