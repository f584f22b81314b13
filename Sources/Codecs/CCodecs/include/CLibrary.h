#pragma once
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
