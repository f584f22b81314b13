#include "CLibrary.h"

#include <dlfcn.h>

bool clibrary_load(
    const char *library, const clibrary_entry *entries, size_t count, void *functions) {
    void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!loaded) return false;
    for (size_t i = 0; i < count; i++) {
        void *symbol = dlsym(loaded, entries[i].name);
        if (!symbol) return false;
        *(void **)((char *)functions + entries[i].place) = symbol;
    }
    return true;
}
