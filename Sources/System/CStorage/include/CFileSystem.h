// What Linux can do that the headers show to programs for GNU only, and so not to Swift.

#ifndef HALCYON_CFILESYSTEM_H
#define HALCYON_CFILESYSTEM_H

#include <stddef.h>
#include <stdint.h>

/// Opens a folder for looking names up in it, for which the right to list it is not needed (O_PATH).
/// A descriptor, or -1 with errno.
int halcyon_open_folder(const char *path);

/// Renames a file within an open folder unless there is one of the new name (RENAME_NOREPLACE). 0, or -1
/// with errno: EEXIST when there is one, EINVAL or ENOSYS when the file system cannot tell.
int halcyon_rename_to_new(int folder, const char *from, const char *to);

/// Exchanges the names of two files in an open folder at once (RENAME_EXCHANGE). 0, or -1 with errno.
int halcyon_exchange(int folder, const char *one, const char *other);

/// Opens a file below an open folder for reading, following symbolic links as long as they stay below it
/// (openat2 with RESOLVE_BENEATH). A descriptor, or -1 with errno: EXDEV for a link that leads out, ENOSYS
/// where the kernel cannot tell.
int halcyon_open_beneath(int folder, const char *path);

/// The same when the kernel finds the path without asking the disk (RESOLVE_CACHED), and on the file system of
/// the folder alone. -1 with EAGAIN when it cannot, and with any error on kernels before 5.12.
int halcyon_open_cached(int folder, const char *path, int follows_links);

/// Whether an open folder is on one of the usual file systems of disks and memory, where opening a file that the
/// kernel has found and asking for its size waits for nothing. Those of networks ask another machine.
int halcyon_is_on_this_machine(int folder);

/// The size of an open file in bytes, and when it was last changed, in seconds since 1970 and nanoseconds
/// beyond them. 1 for a regular file, 0 for anything else, or -1 with errno.
int halcyon_regular_file(int file, int64_t *size, int64_t *seconds, int64_t *nanoseconds);

/// Notes at an open file when it expires, in seconds since 1970 (an extended attribute). 0, or -1 with errno:
/// ENOTSUP where the file system keeps no such notes.
int halcyon_note_expiration(int file, double seconds);

/// When a file in an open folder expires by its note, in seconds since 1970; not a number when it has none that
/// can be read. Links are not followed.
double halcyon_noted_expiration(int folder, const char *name);

/// Gives memory that was freed back to the system (malloc_trim).
void halcyon_trim_heap(void);

/// Bytes of all heaps: those that were given out (also in mappings of their own), and those that are kept for
/// later (mallinfo2). Takes a while where heaps are large: each is locked in turn.
void halcyon_heap_usage(size_t *used, size_t *unused);

#endif
