#pragma once
#include <malloc.h>
#include <vips/vips.h>

/* mallopt() takes its parameter names from macros that Swift does not import. */
static inline void cvips_fix_malloc_thresholds(int mmap_bytes, int trim_bytes) {
    mallopt(M_MMAP_THRESHOLD, mmap_bytes);
    mallopt(M_TRIM_THRESHOLD, trim_bytes);
}

/* The type of an instance is read through a macro. */
static inline GType cvips_type_of(gpointer instance) {
    return G_TYPE_FROM_INSTANCE(instance);
}
