#define _GNU_SOURCE
#include "CDecodingTrial.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

void ctrial_write_outside(void) {
    volatile char *volatile nowhere = (char *)16;
    *nowhere = 1;
}

int ctrial_recurse(int depth) {
    volatile char frame[4096];
    frame[depth % 4096] = (char)depth;
    return ctrial_recurse(depth + 1) + frame[(depth + 1) % 4096];
}

void ctrial_spin(void) {
    for (volatile uint64_t count = 0;; count++) {}
}

void ctrial_allocate(void) {
    enum { SIZE = 16 << 20 };
    for (;;) {
        char *memory = malloc(SIZE);
        if (!memory) abort();
        memset(memory, 1, SIZE);
    }
}

int ctrial_fork(void) {
    pid_t process = fork();
    if (process == 0) _exit(0);
    return process < 0 ? errno : 0;
}

int ctrial_execute(void) {
    char *arguments[] = {"/bin/true", NULL};
    execv(arguments[0], arguments);
    return errno;
}

int ctrial_open(const char *path, bool writes) {
    int file = open(path, writes ? O_WRONLY | O_CREAT : O_RDONLY, 0600);
    if (file < 0) return errno;
    close(file);
    return 0;
}

int ctrial_connect(void) {
    int end = socket(AF_INET, SOCK_STREAM, 0);
    if (end < 0) return errno;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int result = connect(end, (struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
    close(end);
    return result;
}

void ctrial_flood(int socket) {
    char bytes[512];
    memset(bytes, 7, sizeof bytes);
    while (send(socket, bytes, sizeof bytes, MSG_NOSIGNAL) > 0) {}
}

int ctrial_send(int socket, const void *bytes, size_t count) {
    return send(socket, bytes, count, MSG_NOSIGNAL) < 0 ? errno : 0;
}

void ctrial_write_errors(int64_t count) {
    static char line[1 << 16];
    memset(line, 'x', sizeof line);
    for (size_t i = 79; i < sizeof line; i += 80) line[i] = '\n';
    for (int64_t sent = 0; sent < count; sent += sizeof line) {
        if (write(STDERR_FILENO, line, sizeof line) < 0 && errno != EAGAIN) return;
    }
}

void ctrial_sleep(void) {
    for (;;) poll(NULL, 0, 1000);
}

int ctrial_refuse(uint32_t calls) {
    struct sock_filter program[32];
    unsigned short count = 0;
    program[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    const struct {
        uint32_t bit;
        int call, code;
    } refused[] = {
        {CTRIAL_SECCOMP, SYS_seccomp, EPERM},
        {CTRIAL_LANDLOCK, 444, ENOSYS},
        {CTRIAL_MEMORY_FILES, SYS_memfd_create, ENOSYS},
        {CTRIAL_LIMITS, SYS_prlimit64, EPERM},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (!(calls & refused[i].bit)) continue;
        program[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)refused[i].call, 0, 1);
        program[count++] =
            (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)refused[i].code);
    }
    if (calls & CTRIAL_PRIVILEGES) {
        program[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3);
        program[count++] =
            (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args));
        program[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_NO_NEW_PRIVS, 0, 1);
        program[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    }
    program[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {.len = count, .filter = program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 && errno != EPERM) return errno;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0 ? 0 : errno;
}

bool ctrial_wait_for_end(pid_t process, int milliseconds) {
    int handle = (int)syscall(SYS_pidfd_open, process, 0);
    if (handle < 0) return errno == ESRCH;
    struct pollfd wanted = {.fd = handle, .events = POLLIN};
    int result = poll(&wanted, 1, milliseconds);
    close(handle);
    return result == 1;
}
