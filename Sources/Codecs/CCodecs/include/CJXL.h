#pragma once
#include <jxl/decode.h>
#include <jxl/encode.h>
#include <jxl/version.h>

/* The functions of libjxl's decoder that are called. The library is loaded when the first file needs it:
   linked to a program, it would cost each of its starts 3 ms. */
#define CJXL_FUNCTIONS(EACH) \
    EACH(version, JxlDecoderVersion) \
    EACH(create, JxlDecoderCreate) \
    EACH(destroy, JxlDecoderDestroy) \
    EACH(subscribe, JxlDecoderSubscribeEvents) \
    EACH(set_input, JxlDecoderSetInput) \
    EACH(process, JxlDecoderProcessInput) \
    EACH(skip_frames, JxlDecoderSkipFrames) \
    EACH(set_unpremultiply, JxlDecoderSetUnpremultiplyAlpha) \
    EACH(get_info, JxlDecoderGetBasicInfo) \
    EACH(get_channel, JxlDecoderGetExtraChannelInfo) \
    EACH(get_frame, JxlDecoderGetFrameHeader) \
    EACH(set_preferred_colours, JxlDecoderSetPreferredColorProfile) \
    EACH(get_colours, JxlDecoderGetColorAsEncodedProfile) \
    EACH(get_profile_size, JxlDecoderGetICCProfileSize) \
    EACH(get_profile, JxlDecoderGetColorAsICCProfile) \
    EACH(get_output_size, JxlDecoderImageOutBufferSize) \
    EACH(set_output, JxlDecoderSetImageOutBuffer)

#define MEMBER(member, function) __typeof__(function) *member;
typedef struct {
    CJXL_FUNCTIONS(MEMBER)
} cjxl_functions;
#undef MEMBER

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
