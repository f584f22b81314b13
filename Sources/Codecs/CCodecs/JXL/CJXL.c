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

#define ENTRY(member, function) {#function, offsetof(cjxl_functions, member)},
static const clibrary_entry entries[] = {CJXL_FUNCTIONS(ENTRY)};

static void load(void) {
    const size_t count = sizeof entries / sizeof *entries;
    if (clibrary_load(LIBRARY, entries, count, &functions)) loaded = &functions;
}

const cjxl_functions *cjxl_load(void) {
    pthread_once(&once, load);
    return loaded;
}
