#define _GNU_SOURCE
#include "CWorker.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
/* It takes terabytes of addresses. */
#define CWORKER_HAS_SANITIZER 1
#endif
#endif

int cworker_memory_file(void) {
    int file = memfd_create("halcyon-pictures", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file >= 0) {
        /* Whoever reads it must not find that its pages are gone. */
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK);
        return file;
    }
    char path[] = "/dev/shm/halcyon-XXXXXX";
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) unlink(path);
    return file;
}

int cworker_socket_pair(int sockets[2]) {
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0 ? 0 : errno;
}

int cworker_pipe(int ends[2]) {
    return pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0 ? 0 : errno;
}

/* Whether its pages come from a file system of a limited size, whose end nobody may meet while he writes to memory. */
static bool is_limited(int file) {
    int seals = fcntl(file, F_GET_SEALS);
    return seals < 0 || !(seals & F_SEAL_SHRINK);
}

bool cworker_enlarge(int file, int64_t count) {
    if (ftruncate(file, count) != 0) return false;
    return !is_limited(file) || posix_fallocate(file, 0, count) == 0;
}

void cworker_give_back(int file, int64_t offset, int64_t count) {
    if (is_limited(file)) return;
    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, count);
}

/* A duplicate whose number is none of those that a worker has. */
static int above_all(int descriptor) {
    return fcntl(descriptor, F_DUPFD_CLOEXEC, CWORKER_OUTPUT + 1);
}

int cworker_spawn(const char *program, char *const arguments[], char *const environment[], int socket, int input,
                  int output, int log, pid_t *process) {
    int own[4] = {above_all(socket), above_all(input), above_all(output), above_all(log)};
    static const int wanted[4] = {CWORKER_SOCKET, CWORKER_INPUT, CWORKER_OUTPUT, STDERR_FILENO};

    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int result = posix_spawn_file_actions_init(&files);
    if (result == 0) result = posix_spawnattr_init(&attributes);
    if (result != 0) return result;

    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDOUT_FILENO);
    for (int i = 0; i < 4; i++) {
        if (own[i] < 0) result = errno;
        posix_spawn_file_actions_adddup2(&files, own[i], wanted[i]);
    }
    posix_spawn_file_actions_addclosefrom_np(&files, CWORKER_OUTPUT + 1);

    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);

    if (result == 0) result = posix_spawn(process, program, &files, &attributes, arguments, environment);
    for (int i = 0; i < 4; i++) {
        if (own[i] >= 0) close(own[i]);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return result;
}

bool cworker_is_stopped(pid_t process) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)process, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid == process;
}

static int argument_count;
static char **arguments;

/* glibc hands constructors what it hands main. */
__attribute__((constructor)) static void keep_arguments(int count, char **values) {
#ifdef __GLIBC__
    argument_count = count;
    arguments = values;
#else
    (void)count, (void)values;
#endif
}

int cworker_argument_count(void) {
    return argument_count;
}

const char *cworker_argument(int index) {
    return arguments[index];
}

const char *cworker_program(void) {
    return (const char *)getauxval(AT_EXECFN);
}

/* When the machine has no memory left, a worker is what it can do without. */
static void offer_to_be_ended(void) {
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    if (write(file, "1000", 4) != 4) perror("oom_score_adj");
    close(file);
}

bool cworker_begin(pid_t parent) {
    offer_to_be_ended();
    static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return getppid() == parent;
}

static void limit(int resource, rlim_t most, uint32_t *missing) {
    struct rlimit limit = {most, most}, old;
    /* One that is lower already stays. */
    if (getrlimit(resource, &old) == 0 && old.rlim_max < most) limit.rlim_cur = limit.rlim_max = old.rlim_max;
    if (setrlimit(resource, &limit) != 0) *missing |= CWORKER_LIMITS;
}

static uint64_t address_space(void) {
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0) return UINT64_C(4) << 30;
    char text[128];
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    if (count <= 0) return UINT64_C(4) << 30;
    text[count] = 0;
    return strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint32_t cworker_filter_calls(bool opens);

uint32_t cworker_confine_calls(uint64_t memory, bool opens) {
    uint32_t missing = 0;
    limit(RLIMIT_CORE, 0, &missing);
    limit(RLIMIT_FSIZE, 0, &missing);
    limit(RLIMIT_NOFILE, 64, &missing);
#ifndef CWORKER_HAS_SANITIZER
    uint64_t used = address_space();
    limit(RLIMIT_AS, memory > UINT64_MAX - used ? RLIM_INFINITY : (rlim_t)(used + memory), &missing);
#endif
    prctl(PR_SET_DUMPABLE, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) missing |= CWORKER_PRIVILEGES;
    return missing | cworker_filter_calls(opens);
}

void cworker_trim(void) {
    malloc_trim(0);
}

void cworker_allow_seconds(uint64_t seconds) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    struct rlimit limit;
    if (getrlimit(RLIMIT_CPU, &limit) != 0) return;
    limit.rlim_cur = (rlim_t)used.tv_sec + 2 + seconds;
    if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_CPU, &limit);
}

ssize_t cworker_send(int socket, const void *bytes, size_t count) {
    ssize_t sent;
    do {
        sent = send(socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    return sent;
}

ssize_t cworker_receive(int socket, void *bytes, size_t count, bool wait) {
    ssize_t received;
    do {
        received = recv(socket, bytes, count, MSG_TRUNC | (wait ? 0 : MSG_DONTWAIT));
    } while (received < 0 && errno == EINTR);
    return received;
}

int cworker_wait(int socket, int milliseconds) {
    struct pollfd wanted = {.fd = socket, .events = POLLIN};
    int result = poll(&wanted, 1, milliseconds);
    return result < 0 && errno == EINTR ? 0 : result;
}
