#define _GNU_SOURCE
#include "CWorker.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
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
#include <sys/syscall.h>
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

int cworker_spawn(const char *program, char *const arguments[], char *const environment[], int socket, int log,
                  pid_t *process) {
    int own[2] = {above_all(socket), above_all(log)};
    static const int wanted[2] = {CWORKER_SOCKET, STDERR_FILENO};

    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int result = posix_spawn_file_actions_init(&files);
    if (result == 0) result = posix_spawnattr_init(&attributes);
    if (result != 0) return result;

    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDOUT_FILENO);
    for (int i = 0; i < 2; i++) {
        if (own[i] < 0) result = errno;
        posix_spawn_file_actions_adddup2(&files, own[i], wanted[i]);
    }
    posix_spawn_file_actions_addclosefrom_np(&files, CWORKER_SOCKET + 1);

    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);

    if (result == 0) result = posix_spawn(process, program, &files, &attributes, arguments, environment);
    for (int i = 0; i < 2; i++) {
        if (own[i] >= 0) close(own[i]);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return result;
}

enum { FORK_COUNT = 4 };
/* What a worker is given, in the order in which it is sent. */
static const int forked[FORK_COUNT] = {CWORKER_SOCKET, CWORKER_INPUT, CWORKER_OUTPUT, STDERR_FILENO};

int cworker_request_fork(int control, int socket, int input, int output, int log) {
    const int sent[FORK_COUNT] = {socket, input, output, log};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof sent)];
    } space = {0};
    char word = 0;
    struct iovec words = {&word, 1};
    struct msghdr message = {.msg_iov = &words, .msg_iovlen = 1, .msg_control = space.bytes,
                             .msg_controllen = sizeof space.bytes};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof sent);
    memcpy(CMSG_DATA(header), sent, sizeof sent);
    ssize_t count;
    do {
        count = sendmsg(control, &message, MSG_NOSIGNAL);
    } while (count < 0 && errno == EINTR);
    return count < 0 ? errno : 0;
}

/* Takes the descriptors of such a request; false when nobody sends any longer. */
static bool receive_request(int received[FORK_COUNT]) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(FORK_COUNT * sizeof(int))];
    } space = {0};
    char word;
    struct iovec words = {&word, 1};
    struct msghdr message = {.msg_iov = &words, .msg_iovlen = 1, .msg_control = space.bytes,
                             .msg_controllen = sizeof space.bytes};
    ssize_t count;
    do {
        count = recvmsg(CWORKER_SOCKET, &message, MSG_CMSG_CLOEXEC);
    } while (count < 0 && errno == EINTR);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (count <= 0 || !header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int[FORK_COUNT])))
        return false;
    memcpy(received, CMSG_DATA(header), sizeof(int[FORK_COUNT]));
    return true;
}

/* A child of the process that has started this one, which waits for it and signals it as if it had started it itself.
   The library's `fork` has no such thing; what it would tell the new process is its thread's number. */
static pid_t fork_sibling(void) {
    long flags = CLONE_PARENT | SIGCHLD;
    void *number = NULL;
    if (prctl(PR_GET_TID_ADDRESS, &number) == 0 && number) flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
#if defined(__x86_64__)
    return (pid_t)syscall(SYS_clone, flags, NULL, NULL, number, NULL);
#else
    return (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, number);
#endif
}

/* Has this process end with the thread that counts as its parent's; false when `parent` has ended already. */
static bool end_with(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return getppid() == parent;
}

void cworker_fork_on_request(pid_t parent) {
    int files[FORK_COUNT];
    while (receive_request(files)) {
        pid_t process = fork_sibling();
        if (process == 0) {
            if (!end_with(parent)) _exit(1);
            for (int i = 0; i < FORK_COUNT; i++) files[i] = above_all(files[i]);
            for (int i = 0; i < FORK_COUNT; i++) {
                if (files[i] < 0 || dup2(files[i], forked[i]) < 0) _exit(1);
            }
            closefrom(CWORKER_OUTPUT + 1);
            return;
        }
        int32_t answer = process < 0 ? -errno : process;
        for (int i = 0; i < FORK_COUNT; i++) close(files[i]);
        if (cworker_send(CWORKER_SOCKET, &answer, sizeof answer) < 0) break;
    }
    _exit(0);
}

bool cworker_hold_back(pid_t process, int priority) {
    return setpriority(PRIO_PROCESS, (id_t)process, priority) == 0;
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
    return end_with(parent);
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

uint32_t cworker_filter_calls(void);
uint32_t cworker_filter_worker(bool opens);

uint32_t cworker_confine_template(void) {
    uint32_t missing = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : CWORKER_PRIVILEGES;
    return missing | cworker_filter_calls();
}

uint32_t cworker_confine_worker(uint64_t memory, bool opens) {
    uint32_t missing = 0;
    limit(RLIMIT_CORE, 0, &missing);
    limit(RLIMIT_FSIZE, 0, &missing);
    limit(RLIMIT_NOFILE, 64, &missing);
#ifndef CWORKER_HAS_SANITIZER
    uint64_t used = address_space();
    limit(RLIMIT_AS, memory > UINT64_MAX - used ? RLIM_INFINITY : (rlim_t)(used + memory), &missing);
#endif
    prctl(PR_SET_DUMPABLE, 0);
    return missing | cworker_filter_worker(opens);
}

void cworker_load_vips_module(const char *name) {
    void *init = dlsym(RTLD_DEFAULT, "vips_init");
    int (*version)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "vips_version");
    /* From the library that libvips itself loads them with. */
    void *(*load)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_DEFAULT, "g_module_open");
    Dl_info library;
    if (!init || !version || !load || dladdr(init, &library) == 0 || !library.dli_fname) return;
    const char *end = strrchr(library.dli_fname, '/');
    if (!end) return;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.*s/vips-modules-%d.%d/vips-%s.so", (int)(end - library.dli_fname),
             library.dli_fname, version(0), version(1), name);
    if (access(path, R_OK) == 0) load(path, 1);
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

bool cworker_is_closed(int socket) {
    struct pollfd wanted = {.fd = socket, .events = POLLRDHUP};
    return poll(&wanted, 1, 0) == 1 && (wanted.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

int cworker_wait(int socket, int milliseconds) {
    struct pollfd wanted = {.fd = socket, .events = POLLIN};
    int result = poll(&wanted, 1, milliseconds);
    return result < 0 && errno == EINTR ? 0 : result;
}
