#include "CAVIF.h"

#include <CLibrary.h>

/* The name of the library whose headers these are. */
#if AVIF_VERSION_MAJOR >= 1
#define LIBRARY "libavif.so.16"
#else
#define LIBRARY "libavif.so.15"
#endif

CLIBRARY_LOADER(cavif, CAVIF_FUNCTIONS, LIBRARY)
