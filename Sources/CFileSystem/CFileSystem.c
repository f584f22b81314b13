#define _GNU_SOURCE
#include "CFileSystem.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>

int halcyon_open_folder(const char *path) {
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int halcyon_rename_to_new(int folder, const char *from, const char *to) {
    return renameat2(folder, from, folder, to, RENAME_NOREPLACE);
}

int halcyon_exchange(int folder, const char *one, const char *other) {
    return renameat2(folder, one, folder, other, RENAME_EXCHANGE);
}

void halcyon_trim_heap(void) {
    malloc_trim(0);
}
