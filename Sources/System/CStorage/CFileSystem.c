#define _GNU_SOURCE
#include "CFileSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

int halcyon_open_folder(const char *path) {
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int halcyon_rename_to_new(int folder, const char *from, const char *to) {
    return renameat2(folder, from, folder, to, RENAME_NOREPLACE);
}

int halcyon_exchange(int folder, const char *one, const char *other) {
    return renameat2(folder, one, folder, other, RENAME_EXCHANGE);
}

static int open_resolved(int folder, const char *path, uint64_t resolve) {
    struct open_how how = {
        .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve,
    };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

int halcyon_open_beneath(int folder, const char *path) {
    return open_resolved(folder, path, 0);
}

int halcyon_open_cached(int folder, const char *path, int follows_links) {
#ifdef RESOLVE_CACHED
    uint64_t links = follows_links ? 0 : RESOLVE_NO_SYMLINKS;
    return open_resolved(folder, path, RESOLVE_NO_XDEV | RESOLVE_CACHED | links);
#else
    errno = ENOSYS;
    return -1;
#endif
}

int halcyon_is_on_this_machine(int folder) {
    struct statfs status;
    if (fstatfs(folder, &status) != 0) return 0;
    switch ((unsigned long)status.f_type) {
    case BTRFS_SUPER_MAGIC:
    case EXT4_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case XFS_SUPER_MAGIC:
        return 1;
    default:
        return 0;
    }
}

int halcyon_regular_file(int file, int64_t *size, int64_t *seconds, int64_t *nanoseconds) {
    struct stat status;
    if (fstat(file, &status) != 0) return -1;
    *size = status.st_size;
    *seconds = status.st_mtim.tv_sec;
    *nanoseconds = status.st_mtim.tv_nsec;
    return S_ISREG(status.st_mode) ? 1 : 0;
}

void halcyon_trim_heap(void) {
    malloc_trim(0);
}

void halcyon_heap_usage(size_t *used, size_t *unused) {
    struct mallinfo2 info = mallinfo2();
    *used = info.uordblks + info.hblkhd;
    *unused = info.fordblks;
}

static const char expiration_note[] = "user.halcyon.expires";

int halcyon_note_expiration(int file, double seconds) {
    if (!(fabs(seconds) < 1e15)) {
        errno = EINVAL;
        return -1;
    }
    // Cut, not rounded: never later than it is.
    long long milliseconds = (long long)(seconds * 1000) - (seconds < 0);
    char text[32];
    int length = snprintf(text, sizeof text, "%.3f", (double)milliseconds / 1000);
    return fsetxattr(file, expiration_note, text, (size_t)length, 0);
}

double halcyon_noted_expiration(int folder, const char *name) {
    // The folder may be open for looking names up only, and no call takes it together with a name.
    char path[320];
    int length = snprintf(path, sizeof path, "/proc/self/fd/%d/%s", folder, name);
    if (length < 0 || length >= (int)sizeof path) return NAN;
    char text[33];
    ssize_t count = lgetxattr(path, expiration_note, text, sizeof text - 1);
    if (count <= 0) return NAN;
    text[count] = 0;
    char *end;
    double seconds = strtod(text, &end);
    return end == text + count && isfinite(seconds) ? seconds : NAN;
}
