#define _GNU_SOURCE
#include "CWorker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Landlock, by the numbers of Linux 5.13 and newer; headers may be older than the kernel. */

struct ruleset {
    uint64_t files, network, scopes;
};

struct path_rule {
    uint64_t access;
    int32_t parent;
} __attribute__((packed));

enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { BENEATH_PATH = 1 };
enum { READ_FILE = 1 << 2, READ_FOLDER = 1 << 3 };

uint32_t cworker_confine_files(const char *const folders[], size_t count) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return CWORKER_PRIVILEGES | CWORKER_FILES;
    long version = syscall(CREATE_RULESET, NULL, 0, 1);
    if (version < 1) return CWORKER_FILES;
    struct ruleset rules = {.files = (1 << 13) - 1};
    size_t size = sizeof rules.files;
    if (version >= 2) rules.files |= 1 << 13;
    if (version >= 3) rules.files |= 1 << 14;
    if (version >= 4) {
        rules.network = 3;
        size = offsetof(struct ruleset, scopes);
    }
    if (version >= 5) rules.files |= 1 << 15;
    if (version >= 6) {
        rules.scopes = 3;
        size = sizeof rules;
    }
    int ruleset = (int)syscall(CREATE_RULESET, &rules, size, 0);
    if (ruleset < 0) return CWORKER_FILES;
    for (size_t i = 0; i < count; i++) {
        int folder = open(folders[i], O_PATH | O_CLOEXEC);
        if (folder < 0) continue;
        struct path_rule rule = {READ_FILE | READ_FOLDER, folder};
        if (syscall(ADD_RULE, ruleset, BENEATH_PATH, &rule, 0) != 0) {
            /* A file has nothing to be listed. */
            rule.access = READ_FILE;
            syscall(ADD_RULE, ruleset, BENEATH_PATH, &rule, 0);
        }
        close(folder);
    }
    long result = syscall(RESTRICT_SELF, ruleset, 0);
    close(ruleset);
    return result == 0 ? 0 : CWORKER_FILES;
}

/* seccomp */

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef OWN_ARCHITECTURE

/* Calls that decoding, allocators, threads and reading fonts take, whatever their arguments. */
static const int allowed[] = {
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_close, SYS_lseek, SYS_fstat, SYS_newfstatat, SYS_statx,
    SYS_getdents64, SYS_munmap, SYS_mremap, SYS_madvise, SYS_mincore, SYS_brk, SYS_futex, SYS_sched_yield,
    SYS_sched_getaffinity, SYS_getpid, SYS_gettid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid,
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack, SYS_exit, SYS_exit_group,
    SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_getrandom,
    SYS_set_robust_list, SYS_rseq, SYS_membarrier, SYS_ppoll, SYS_sendto, SYS_recvfrom, SYS_sendmsg, SYS_recvmsg,
    SYS_getrusage, SYS_getrlimit, SYS_sysinfo, SYS_uname, SYS_eventfd2, SYS_faccessat, SYS_readlinkat, SYS_getcwd,
    SYS_fcntl, SYS_restart_syscall, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait, SYS_timerfd_create,
    SYS_timerfd_settime, SYS_fadvise64, SYS_fstatfs, SYS_statfs, SYS_sched_getscheduler, SYS_sched_getparam,
    SYS_sched_setscheduler, SYS_getpriority,
#ifdef SYS_poll
    SYS_poll, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_epoll_wait, SYS_epoll_create, SYS_eventfd, SYS_time,
    SYS_arch_prctl,
#endif
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
#ifdef SYS_futex_waitv
    SYS_futex_waitv,
#endif
};

/* Calls that no decoder makes: whoever makes them is somebody else by now. */
static const int deadly[] = {
    SYS_execve, SYS_execveat, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4,
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_mount, SYS_umount2, SYS_unshare, SYS_setns,
    SYS_pivot_root, SYS_chroot, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key,
    SYS_init_module, SYS_finit_module, SYS_kexec_load, SYS_memfd_create, SYS_setuid, SYS_setgid, SYS_setresuid,
    SYS_setresgid, SYS_ftruncate, SYS_fallocate,
#ifdef SYS_fork
    SYS_fork, SYS_vfork,
#endif
#ifdef SYS_io_uring_setup
    SYS_io_uring_setup, SYS_io_uring_enter,
#endif
#ifdef SYS_pidfd_getfd
    SYS_pidfd_getfd,
#endif
#ifdef SYS_pidfd_send_signal
    SYS_pidfd_send_signal,
#endif
};

/* Calls for forking workers and for becoming one. The filter of a worker has a rule for each: what it may still do. */
static const int narrowed[] = {
    SYS_clone, SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_prctl,
};

/* More of them, which workers have no more use for. */
static const int forking[] = {
    SYS_dup3, SYS_seccomp,
#ifdef SYS_dup2
    SYS_dup2,
#endif
#ifdef SYS_close_range
    SYS_close_range,
#endif
};

static const struct {
    int call, flags;
} opening[] = {
    {SYS_openat, 2},
#ifdef SYS_open
    {SYS_open, 1},
#endif
};

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define FIELD(name) ((uint32_t)offsetof(struct seccomp_data, name))
/* The lower half of an argument; both kinds of processors are little-endian. */
#define ARGUMENT(number) (FIELD(args) + 8 * (number))

#define LOAD(offset) ((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset)))
#define RETURN(value) ((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, (value)))
#define IF_EQUAL(value, yes, no) ((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), yes, no))
#define IF_ANY(bits, yes, no) ((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (uint32_t)(bits), yes, no))
#define REFUSE(code) RETURN(SECCOMP_RET_ERRNO | (code))
#define KILL RETURN(SECCOMP_RET_KILL_PROCESS)
#define ALLOW RETURN(SECCOMP_RET_ALLOW)

/* Puts a filter into force in all threads, in addition to those there are: the strictest answer counts. */
static uint32_t filter_by(struct sock_filter *program, unsigned short count) {
    struct sock_fprog filter = {.len = count, .filter = program};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0) return 0;
    return CWORKER_CALLS;
}

#define ADD(...) (program[count++] = (__VA_ARGS__))
/* The same answer to each call of a list. */
#define ADD_EACH(list, answer) \
    for (size_t i = 0; i < COUNT(list); i++) { \
        ADD(IF_EQUAL(list[i], 0, 1)); \
        ADD(answer); \
    }

/* The kernel tries a new filter with every call there is, with interrupts off: the template has the long one, which
   workers inherit. */
uint32_t cworker_filter_calls(void) {
    struct sock_filter program[2 * (COUNT(allowed) + COUNT(narrowed) + COUNT(forking) + COUNT(deadly)) + 64];
    unsigned short count = 0;
    ADD(LOAD(FIELD(arch)));
    ADD(IF_EQUAL(OWN_ARCHITECTURE, 1, 0));
    ADD(KILL);
    ADD(LOAD(FIELD(nr)));
    ADD_EACH(allowed, ALLOW)
    ADD_EACH(narrowed, ALLOW)
    ADD_EACH(forking, ALLOW)
    ADD_EACH(deadly, KILL)
    /* The system's log and its service for names, which libraries ask without need, are missing. */
    ADD(IF_EQUAL(SYS_socket, 0, 4));
    ADD(LOAD(ARGUMENT(0)));
    ADD(IF_EQUAL(AF_UNIX, 0, 1));
    ADD(REFUSE(EACCES));
    ADD(KILL);
    /* Dispatch raises the priority of its threads, and complains to the system's log where it may not. */
    ADD(IF_EQUAL(SYS_setpriority, 0, 1));
    ADD(REFUSE(0));
    /* Memory that is to be executed is given to nobody. */
    static const int mapping[] = {SYS_mmap, SYS_mprotect};
    for (size_t i = 0; i < COUNT(mapping); i++) {
        ADD(IF_EQUAL(mapping[i], 0, 4));
        ADD(LOAD(ARGUMENT(2)));
        ADD(IF_ANY(PROT_EXEC, 0, 1));
        ADD(REFUSE(EPERM));
        ADD(ALLOW);
    }
    /* Files to be read: which ones, Landlock decides. Fontconfig tries to write what it has found. */
    for (size_t i = 0; i < COUNT(opening); i++) {
        ADD(IF_EQUAL(opening[i].call, 0, 4));
        ADD(LOAD(ARGUMENT(opening[i].flags)));
        ADD(IF_ANY(O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0, 1));
        ADD(REFUSE(EACCES));
        ADD(ALLOW);
    }
    /* What the newer call is asked for stands in memory, which no filter sees. */
    ADD(IF_EQUAL(SYS_clone3, 0, 1));
    ADD(REFUSE(ENOSYS));
    /* Limits of its own. */
    ADD(IF_EQUAL(SYS_prlimit64, 0, 4));
    ADD(LOAD(ARGUMENT(0)));
    ADD(IF_EQUAL(0, 0, 1));
    ADD(ALLOW);
    ADD(KILL);
    ADD(IF_EQUAL(SYS_setrlimit, 0, 1));
    ADD(ALLOW);
    ADD(IF_EQUAL(SYS_ioctl, 0, 1));
    ADD(REFUSE(ENOTTY));
    ADD(REFUSE(EPERM));
    return filter_by(program, count);
}

uint32_t cworker_filter_worker(bool opens) {
    struct sock_filter program[2 * COUNT(forking) + 96];
    unsigned short count = 0;
    ADD(LOAD(FIELD(nr)));
    if (!opens) {
        for (size_t i = 0; i < COUNT(opening); i++) {
            ADD(IF_EQUAL(opening[i].call, 0, 1));
            ADD(REFUSE(EACCES));
        }
    }
    /* Threads, no processes. */
    ADD(IF_EQUAL(SYS_clone, 0, 4));
    ADD(LOAD(ARGUMENT(0)));
    ADD(IF_ANY(CLONE_THREAD, 1, 0));
    ADD(KILL);
    ADD(ALLOW);
    /* Signals to itself, as of `abort`; others are none of its business. One that stops it is not told from one that
       somebody else has sent. */
    static const struct {
        int call, signal;
    } signals[] = {{SYS_kill, 1}, {SYS_tgkill, 2}, {SYS_rt_sigqueueinfo, 1}, {SYS_rt_tgsigqueueinfo, 2}};
    for (size_t i = 0; i < COUNT(signals); i++) {
        ADD(IF_EQUAL(signals[i].call, 0, 10));
        ADD(LOAD(ARGUMENT(0)));
        ADD(IF_EQUAL(getpid(), 1, 0));
        ADD(KILL);
        ADD(LOAD(ARGUMENT(signals[i].signal)));
        ADD(IF_EQUAL(SIGSTOP, 3, 0));
        ADD(IF_EQUAL(SIGTSTP, 2, 0));
        ADD(IF_EQUAL(SIGTTIN, 1, 0));
        ADD(IF_EQUAL(SIGTTOU, 0, 1));
        ADD(KILL);
        ADD(ALLOW);
    }
    /* Names of threads and of memory. */
    ADD(IF_EQUAL(SYS_prctl, 0, 5));
    ADD(LOAD(ARGUMENT(0)));
    ADD(IF_EQUAL(PR_SET_NAME, 1, 0));
    ADD(IF_EQUAL(0x53564d41 /* PR_SET_VMA */, 0, 1));
    ADD(ALLOW);
    ADD(REFUSE(EPERM));
    ADD_EACH(forking, REFUSE(EPERM))
    ADD(ALLOW);
    return filter_by(program, count);
}

#undef ADD_EACH
#undef ADD

#else

uint32_t cworker_filter_calls(void) {
    return CWORKER_CALLS;
}

uint32_t cworker_filter_worker(bool opens) {
    (void)opens;
    return CWORKER_CALLS;
}

#endif
