#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Processes that decode for another one, and the wall around them. All functions return 0 or a number of errno unless
   they say otherwise. */

/* The descriptors of a worker. */
enum { CWORKER_SOCKET = 3, CWORKER_INPUT = 4, CWORKER_OUTPUT = 5 };

/* A file in memory that grows, and that cannot be made smaller where the kernel can forbid it. -1 when there is none. */
int cworker_memory_file(void);

/* A pair of sockets that keep messages apart; both are closed in programs that this one executes. */
int cworker_socket_pair(int sockets[2]);

/* A pipe that never has anybody wait, closed in programs that this one executes. */
int cworker_pipe(int ends[2]);

/* Makes such a file larger; false when there is no memory for it. */
bool cworker_enlarge(int file, int64_t count);

/* Gives back the memory of a part of a file in memory, which reads as zeros then. */
void cworker_give_back(int file, int64_t offset, int64_t count);

/* Starts `program` with `arguments` and `environment`, both ended by NULL, and with these two descriptors for its own.
   What it writes to standard error goes to `log` as far as there is room, and is lost beyond. */
int cworker_spawn(const char *program, char *const arguments[], char *const environment[], int socket, int log,
                  pid_t *process);

/* Has the process at the other end of `control`, which is in cworker_fork_on_request, fork a worker with these
   descriptors. It answers with the process's number as an int32_t, or a negative number of errno. */
int cworker_request_fork(int control, int socket, int input, int output, int log);

/* Forks workers, which are children of `parent` like this process, and in each of which this returns. Does not return
   in this process, which ends when its socket is closed. There must be no second thread. */
void cworker_fork_on_request(pid_t parent);

/* Gives a process less of the processors, by a priority of up to 19, or more again; false where that is not permitted. */
bool cworker_hold_back(pid_t process, int priority);

/* Whether a child has been stopped, as by SIGSTOP. */
bool cworker_is_stopped(pid_t process);

/* The arguments of this process, which need no /proc to be known: their count is 0 where the system does not tell. */
int cworker_argument_count(void);
const char *cworker_argument(int index);

/* The file that this process executes, as whoever started it has named it; NULL when that is not known. */
const char *cworker_program(void);

/* To be called first of all in a worker: it ends with the thread of `parent` that has started it, whatever becomes of
   both, and signals that are meant for the whole program do not end it. False when `parent` has ended already. */
bool cworker_begin(pid_t parent);

/* What a kernel, or a container, can keep a worker from having. */
enum {
    CWORKER_PRIVILEGES = 1 << 0,
    CWORKER_FILES = 1 << 1,
    CWORKER_CALLS = 1 << 2,
    CWORKER_LIMITS = 1 << 3,
};

/* Leaves nothing of the file system but reading below `folders`. To be called before there is a second thread. The
   bits of what cannot be had. */
uint32_t cworker_confine_files(const char *const folders[], size_t count);

/* Forbids all system calls but those for decoding and for forking workers. The bits of what cannot be had. */
uint32_t cworker_confine_template(void);

/* Forbids the system calls for forking in a process forked by a confined template, in all threads, and takes limits:
   `memory` more bytes of address space than now, no files to be written, few descriptors. Without `opens`, files are not
   even opened to be read. The bits of what cannot be had. */
uint32_t cworker_confine_worker(uint64_t memory, bool opens);

/* Loads a module of libvips, such as "heif", from beside the library. Nothing where there is none: it is built in, or
   not installed. */
void cworker_load_vips_module(const char *name);

/* Gives memory that is free back to the system. */
void cworker_trim(void);

/* How many seconds of processor time this process may take from now on; beyond, the kernel ends it. */
void cworker_allow_seconds(uint64_t seconds);

/* Sends or takes a message. The count of bytes; 0 when the other side has gone; -1 and errno. Nothing is ever waited
   for with `wait` false. */
ssize_t cworker_send(int socket, const void *bytes, size_t count);
ssize_t cworker_receive(int socket, void *bytes, size_t count, bool wait);

/* Whether the other side has gone. */
bool cworker_is_closed(int socket);

/* Waits for a message for so many milliseconds. 1 when there is one, or the other side has gone; 0 when the time is
   over; -1 and errno. */
int cworker_wait(int socket, int milliseconds);
