#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Misbehaviour of decoders, for trials of the processes that they run in. What a function cannot do is answered with a
   number of errno. */

void ctrial_write_outside(void);
int ctrial_recurse(int depth);
void ctrial_spin(void);
/* Takes memory and writes to it until there is no more, and aborts then. */
void ctrial_allocate(void);
int ctrial_fork(void);
int ctrial_execute(void);
int ctrial_open(const char *path, bool writes);
int ctrial_connect(void);
/* Sends messages until the other side has gone. */
void ctrial_flood(int socket);
int ctrial_send(int socket, const void *bytes, size_t count);
/* Writes `count` bytes to the standard error stream, of which some may be lost. */
void ctrial_write_errors(int64_t count);
void ctrial_sleep(void);

/* System calls that a kernel, or a container, may refuse. */
enum {
    CTRIAL_SECCOMP = 1 << 0,
    CTRIAL_LANDLOCK = 1 << 1,
    CTRIAL_MEMORY_FILES = 1 << 2,
    CTRIAL_LIMITS = 1 << 3,
    CTRIAL_PRIVILEGES = 1 << 4,
};

/* Has this process, and those that it starts, be refused these. 0 or a number of errno. */
int ctrial_refuse(uint32_t calls);

/* Waits until a process that need be no child has ended; false when it has not after so many milliseconds. */
bool ctrial_wait_for_end(pid_t process, int milliseconds);
