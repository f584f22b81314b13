#include "CJXL.h"

#include <CLibrary.h>

/* The library whose headers these are: the numbers that its name ends with are those of its version, of which
   each 0.x has functions of its own. */
#define TEXT(number) #number
#define NUMBER(number) TEXT(number)
#if JPEGXL_MAJOR_VERSION >= 1
#define LIBRARY "libjxl.so." NUMBER(JPEGXL_MAJOR_VERSION)
#else
#define LIBRARY "libjxl.so." NUMBER(JPEGXL_MAJOR_VERSION) "." NUMBER(JPEGXL_MINOR_VERSION)
#endif

CLIBRARY_LOADER(cjxl, CJXL_FUNCTIONS, LIBRARY)
