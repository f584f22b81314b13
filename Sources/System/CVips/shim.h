#pragma once
#include <malloc.h>
#include <vips/vips.h>
#include <vips/vector.h>

/* mallopt() takes its parameter names from macros that Swift does not import. */
static inline void cvips_fix_malloc_thresholds(int mmap_bytes, int trim_bytes) {
    mallopt(M_MMAP_THRESHOLD, mmap_bytes);
    mallopt(M_TRIM_THRESHOLD, trim_bytes);
}

/* Has libvips work without Orc, which makes machine code for an operation and frees it with the operation.
   Orc frees without the lock it takes to make, so that operations of two threads sooner or later end the
   process (seen in orc_code_chunk_merge of Orc 0.4.33). Since 8.15 libvips has Highway in its place,
   unless it was built without. */
static inline void cvips_do_without_orc(void) {
#if VIPS_MAJOR_VERSION == 8 && VIPS_MINOR_VERSION < 15
    vips_vector_set_enabled(FALSE);
#else
    if (vips_vector_get_builtin_targets() == 0) vips_vector_set_enabled(FALSE);
#endif
}
