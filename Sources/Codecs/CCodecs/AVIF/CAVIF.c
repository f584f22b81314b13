#include "CAVIF.h"

#include <CLibrary.h>
#include <pthread.h>
#include <stddef.h>

/* The name of the library whose headers these are. */
#if AVIF_VERSION_MAJOR >= 1
#define LIBRARY "libavif.so.16"
#else
#define LIBRARY "libavif.so.15"
#endif

static cavif_functions functions;
static const cavif_functions *loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const clibrary_entry entries[] = {
    {"avifVersion", offsetof(cavif_functions, version)},
    {"avifDecoderCreate", offsetof(cavif_functions, decoder_create)},
    {"avifDecoderDestroy", offsetof(cavif_functions, decoder_destroy)},
    {"avifDecoderSetIOMemory", offsetof(cavif_functions, decoder_set_memory)},
    {"avifDecoderParse", offsetof(cavif_functions, decoder_parse)},
    {"avifDecoderNextImage", offsetof(cavif_functions, decoder_next_image)},
    {"avifDecoderNthImageTiming", offsetof(cavif_functions, decoder_timing)},
    {"avifRGBImageSetDefaults", offsetof(cavif_functions, rgb_set_defaults)},
    {"avifImageYUVToRGB", offsetof(cavif_functions, image_to_rgb)},
};

static void load(void) {
    const size_t count = sizeof entries / sizeof *entries;
    if (clibrary_load(LIBRARY, entries, count, &functions)) loaded = &functions;
}

const cavif_functions *cavif_load(void) {
    pthread_once(&once, load);
    return loaded;
}
