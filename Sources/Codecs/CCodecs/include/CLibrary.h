#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* A function of a library, and where its pointer goes in a struct of them. */
typedef struct {
    const char *name;
    size_t place;
} clibrary_entry;

/* Loads a shared library, such as "libjxl.so.0.7", and writes pointers to its functions into the struct at
   `functions`. False when the library, or one of them, is not there. Called once for each library. */
bool clibrary_load(
    const char *library, const clibrary_entry *entries, size_t count, void *functions);

/* Defines `prefix_load()`, which loads a library when it is first called. `LIST` has the functions as members of
   `prefix_functions`. */
#define CLIBRARY_ENTRY(member, function) {#function, offsetof(__typeof__(functions), member)},
#define CLIBRARY_LOADER(prefix, LIST, library) \
    static prefix##_functions functions; \
    static const prefix##_functions *loaded; \
    static pthread_once_t once = PTHREAD_ONCE_INIT; \
    static const clibrary_entry entries[] = {LIST(CLIBRARY_ENTRY)}; \
    \
    static void load(void) { \
        const size_t count = sizeof entries / sizeof *entries; \
        if (clibrary_load(library, entries, count, &functions)) loaded = &functions; \
    } \
    \
    const prefix##_functions *prefix##_load(void) { \
        pthread_once(&once, load); \
        return loaded; \
    }
