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

#define ENTRY(member, function) {#function, offsetof(cavif_functions, member)},
static const clibrary_entry entries[] = {CAVIF_FUNCTIONS(ENTRY)};

static void load(void) {
    const size_t count = sizeof entries / sizeof *entries;
    if (clibrary_load(LIBRARY, entries, count, &functions)) loaded = &functions;
}

const cavif_functions *cavif_load(void) {
    pthread_once(&once, load);
    return loaded;
}
