#pragma once
#include <jxl/decode.h>
#include <jxl/encode.h>
#include <jxl/version.h>

/* The functions of libjxl's decoder that are called. The library is loaded when the first file needs it:
   linked to a program, it would cost each of its starts 3 ms. */
typedef struct {
    __typeof__(JxlDecoderVersion) *version;
    __typeof__(JxlDecoderCreate) *create;
    __typeof__(JxlDecoderDestroy) *destroy;
    __typeof__(JxlDecoderSubscribeEvents) *subscribe;
    __typeof__(JxlDecoderSetInput) *set_input;
    __typeof__(JxlDecoderProcessInput) *process;
    __typeof__(JxlDecoderSkipFrames) *skip_frames;
    __typeof__(JxlDecoderSetUnpremultiplyAlpha) *set_unpremultiply;
    __typeof__(JxlDecoderGetBasicInfo) *get_info;
    __typeof__(JxlDecoderGetExtraChannelInfo) *get_channel;
    __typeof__(JxlDecoderGetFrameHeader) *get_frame;
    __typeof__(JxlDecoderSetPreferredColorProfile) *set_preferred_colours;
    __typeof__(JxlDecoderGetColorAsEncodedProfile) *get_colours;
    __typeof__(JxlDecoderGetICCProfileSize) *get_profile_size;
    __typeof__(JxlDecoderGetColorAsICCProfile) *get_profile;
    __typeof__(JxlDecoderImageOutBufferSize) *get_output_size;
    __typeof__(JxlDecoderSetImageOutBuffer) *set_output;
} cjxl_functions;

/* The functions, or NULL when the library is not installed. */
const cjxl_functions *cjxl_load(void);

/* The functions that tell colours; until libjxl 0.9 they had an argument that meant nothing. */
#if JPEGXL_NUMERIC_VERSION < JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
#define CJXL_NO_FORMAT NULL,
#else
#define CJXL_NO_FORMAT
#endif

static inline JxlDecoderStatus cjxl_get_colours(
    cjxl_functions jxl, const JxlDecoder *decoder, JxlColorProfileTarget target,
    JxlColorEncoding *colours) {
    return jxl.get_colours(decoder, CJXL_NO_FORMAT target, colours);
}

static inline JxlDecoderStatus cjxl_get_profile_size(
    cjxl_functions jxl, const JxlDecoder *decoder, JxlColorProfileTarget target,
    size_t *size) {
    return jxl.get_profile_size(decoder, CJXL_NO_FORMAT target, size);
}

static inline JxlDecoderStatus cjxl_get_profile(
    cjxl_functions jxl, const JxlDecoder *decoder, JxlColorProfileTarget target,
    uint8_t *profile, size_t size) {
    return jxl.get_profile(decoder, CJXL_NO_FORMAT target, profile, size);
}

#undef CJXL_NO_FORMAT
