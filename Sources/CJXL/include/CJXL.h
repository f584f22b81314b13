#pragma once
#include <jxl/decode.h>
#include <jxl/encode.h>

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
