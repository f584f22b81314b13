#pragma once
#include <avif/avif.h>

/* The functions of libavif that are called. The library, with the encoders that it depends on, is loaded
   when the first file needs it: linked to a program, it would cost each of its starts 8 ms. */
typedef struct {
    __typeof__(avifVersion) *version;
    __typeof__(avifDecoderCreate) *decoder_create;
    __typeof__(avifDecoderDestroy) *decoder_destroy;
    __typeof__(avifDecoderSetIOMemory) *decoder_set_memory;
    __typeof__(avifDecoderParse) *decoder_parse;
    __typeof__(avifDecoderNextImage) *decoder_next_image;
    __typeof__(avifDecoderNthImageTiming) *decoder_timing;
    __typeof__(avifRGBImageSetDefaults) *rgb_set_defaults;
    __typeof__(avifImageYUVToRGB) *image_to_rgb;
} cavif_functions;

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
