#include "CJXL.h"

#include <CLibrary.h>
#include <pthread.h>
#include <stddef.h>

/* The library whose headers these are: the numbers that its name ends with are those of its version, of which
   each 0.x has functions of its own. */
#define TEXT(number) #number
#define NUMBER(number) TEXT(number)
#if JPEGXL_MAJOR_VERSION >= 1
#define LIBRARY "libjxl.so." NUMBER(JPEGXL_MAJOR_VERSION)
#else
#define LIBRARY "libjxl.so." NUMBER(JPEGXL_MAJOR_VERSION) "." NUMBER(JPEGXL_MINOR_VERSION)
#endif

static cjxl_functions functions;
static const cjxl_functions *loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const clibrary_entry entries[] = {
    {"JxlDecoderVersion", offsetof(cjxl_functions, version)},
    {"JxlDecoderCreate", offsetof(cjxl_functions, create)},
    {"JxlDecoderDestroy", offsetof(cjxl_functions, destroy)},
    {"JxlDecoderSubscribeEvents", offsetof(cjxl_functions, subscribe)},
    {"JxlDecoderSetInput", offsetof(cjxl_functions, set_input)},
    {"JxlDecoderProcessInput", offsetof(cjxl_functions, process)},
    {"JxlDecoderSkipFrames", offsetof(cjxl_functions, skip_frames)},
    {"JxlDecoderSetUnpremultiplyAlpha", offsetof(cjxl_functions, set_unpremultiply)},
    {"JxlDecoderGetBasicInfo", offsetof(cjxl_functions, get_info)},
    {"JxlDecoderGetExtraChannelInfo", offsetof(cjxl_functions, get_channel)},
    {"JxlDecoderGetFrameHeader", offsetof(cjxl_functions, get_frame)},
    {"JxlDecoderSetPreferredColorProfile", offsetof(cjxl_functions, set_preferred_colours)},
    {"JxlDecoderGetColorAsEncodedProfile", offsetof(cjxl_functions, get_colours)},
    {"JxlDecoderGetICCProfileSize", offsetof(cjxl_functions, get_profile_size)},
    {"JxlDecoderGetColorAsICCProfile", offsetof(cjxl_functions, get_profile)},
    {"JxlDecoderImageOutBufferSize", offsetof(cjxl_functions, get_output_size)},
    {"JxlDecoderSetImageOutBuffer", offsetof(cjxl_functions, set_output)},
};

static void load(void) {
    const size_t count = sizeof entries / sizeof *entries;
    if (clibrary_load(LIBRARY, entries, count, &functions)) loaded = &functions;
}

const cjxl_functions *cjxl_load(void) {
    pthread_once(&once, load);
    return loaded;
}
