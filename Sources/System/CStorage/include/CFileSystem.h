// Linux functions whose headers require _GNU_SOURCE, and so are not visible to Swift.

#ifndef HALCYON_CFILESYSTEM_H
#define HALCYON_CFILESYSTEM_H

#include <stddef.h>
#include <stdint.h>

/// Opens a folder for looking up names only, without the right to list it (O_PATH). Returns a
/// descriptor, or -1 with errno.
int halcyon_open_folder(const char *path);

/// Renames a file within an open folder unless the new name exists (RENAME_NOREPLACE). Returns 0,
/// or -1 with errno: EEXIST if it exists, EINVAL or ENOSYS if the file system does not support it.
int halcyon_rename_to_new(int folder, const char *from, const char *to);

/// Exchanges the names of two files in an open folder atomically (RENAME_EXCHANGE). Returns 0, or
/// -1 with errno.
int halcyon_exchange(int folder, const char *one, const char *other);

/// Opens a file below an open folder for reading, following symbolic links as long as they stay
/// below it (openat2 with RESOLVE_BENEATH). Returns a descriptor, or -1 with errno: EXDEV for a
/// link that leads out, ENOSYS if the kernel does not support it.
int halcyon_open_beneath(int folder, const char *path);

/// Opens a file below an open folder if the kernel finds the path without asking the disk
/// (RESOLVE_CACHED) and on the folder's own file system. Returns -1 with EAGAIN if it cannot, and
/// with any error on kernels before 5.12.
int halcyon_open_cached(int folder, const char *path, int follows_links);

/// Whether an open folder is on a common local file system (disk or memory), where opening a file
/// that the kernel has found and reading its size does not block. Network file systems ask another
/// machine.
int halcyon_is_on_this_machine(int folder);

/// Reads the size of an open file in bytes and its modification time in seconds since 1970 and
/// nanoseconds. Returns 1 for a regular file, 0 for anything else, or -1 with errno.
int halcyon_regular_file(int file, int64_t *size, int64_t *seconds, int64_t *nanoseconds);

/// Notes the expiration of an open file in seconds since 1970, as an extended attribute. Returns 0,
/// or -1 with errno: ENOTSUP if the file system has no such attributes.
int halcyon_note_expiration(int file, double seconds);

/// Returns the noted expiration of a file in an open folder, in seconds since 1970; NaN without a
/// readable note. Does not follow links.
double halcyon_noted_expiration(int folder, const char *name);

/// Returns freed memory to the system (malloc_trim).
void halcyon_trim_heap(void);

/// Measures all heaps in bytes: those in use (including their own mappings), and those kept for
/// reuse (mallinfo2). Slow where heaps are large: each is locked in turn.
void halcyon_heap_usage(size_t *used, size_t *unused);

#endif
