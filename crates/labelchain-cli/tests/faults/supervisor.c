/* Runs a program and makes one of its calls to the file system fail, or kills it there.
 *
 *     supervisor LOG N FAULT PROGRAM [ARGUMENT]...
 *
 * Counts the calls below that are about files in the current directory, writes each to LOG as a line
 * "NAME PATH", and lets FAULT happen at the N-th: "kill" ends the program before the call, a number is
 * the error that the call returns without being made. N = 0 is no call at all. Exits as the program
 * did, or with 128 + the signal that ended it.
 *
 * A library put before the C library (LD_PRELOAD) would not do: some crates make their system calls
 * themselves. So the kernel asks (seccomp, "user notification", Linux 5.5), with no rights needed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The argument that is the file: a descriptor, a path from the working directory, or a path from the
 * descriptor in the argument before. */
enum { BY_DESCRIPTOR, BY_PATH, BY_PATH_FROM };
static const struct { int number, by, argument; const char *name; } calls[] = {
    {SYS_read, BY_DESCRIPTOR, 0, "read"},
    {SYS_pread64, BY_DESCRIPTOR, 0, "pread64"},
    {SYS_readv, BY_DESCRIPTOR, 0, "readv"},
    {SYS_write, BY_DESCRIPTOR, 0, "write"},
    {SYS_writev, BY_DESCRIPTOR, 0, "writev"},
    {SYS_pwrite64, BY_DESCRIPTOR, 0, "pwrite64"},
    {SYS_pwritev, BY_DESCRIPTOR, 0, "pwritev"},
    {SYS_sendfile, BY_DESCRIPTOR, 0, "sendfile"},
    {SYS_copy_file_range, BY_DESCRIPTOR, 2, "copy_file_range"},
    {SYS_fsync, BY_DESCRIPTOR, 0, "fsync"},
    {SYS_fdatasync, BY_DESCRIPTOR, 0, "fdatasync"},
    {SYS_ftruncate, BY_DESCRIPTOR, 0, "ftruncate"},
    {SYS_openat, BY_PATH_FROM, 1, "openat"},
    {SYS_renameat2, BY_PATH_FROM, 1, "renameat2"},
    {SYS_linkat, BY_PATH_FROM, 3, "linkat"},
    {SYS_fchmod, BY_DESCRIPTOR, 0, "fchmod"},
    {SYS_unlinkat, BY_PATH_FROM, 1, "unlinkat"},
    {SYS_mkdirat, BY_PATH_FROM, 1, "mkdirat"},
#ifdef SYS_renameat
    {SYS_renameat, BY_PATH_FROM, 1, "renameat"},
#endif
#ifdef SYS_open /* Younger machines have only the calls that end in "at". */
    {SYS_open, BY_PATH, 0, "open"},
    {SYS_rename, BY_PATH, 0, "rename"},
    {SYS_unlink, BY_PATH, 0, "unlink"},
    {SYS_mkdir, BY_PATH, 0, "mkdir"},
    {SYS_rmdir, BY_PATH, 0, "rmdir"},
#endif
};
enum { N_CALLS = sizeof calls / sizeof *calls };

static void check(int is_good, const char *what) {
    if (!is_good) {
        perror(what);
        exit(125);
    }
}

/* A message of one byte that carries a descriptor to another process. */
static long pass(int socket, int *descriptor, int sends) {
    char byte = 0, space[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec content = {&byte, 1};
    struct msghdr message = {.msg_iov = &content, .msg_iovlen = 1, .msg_control = space,
                             .msg_controllen = sizeof space};
    if (!sends) {
        long n = recvmsg(socket, &message, 0);
        if (n == 1 && CMSG_FIRSTHDR(&message))
            memcpy(descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
        return n;
    }
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), descriptor, sizeof(int));
    return sendmsg(socket, &message, 0);
}

static void run(int socket, char **program) {
    struct sock_filter filter[2 * N_CALLS + 2];
    int n = 0;
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int at = 0; at < N_CALLS; at++) {
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[at].number, 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    }
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog all = {n, filter};
    check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
    int listener =
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &all);
    check(listener >= 0, "seccomp");
    check(pass(socket, &listener, 1) == 1, "passing the listener");
    execv(program[0], program);
    check(0, program[0]);
}

/* The target of a link in /proc, as a directory that names in it can be put behind. */
static void follow(char *path, size_t size, int pid, const char *link) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/%s", pid, link);
    long n = readlink(name, path, size - 1);
    path[n < 0 ? 0 : n] = 0;
}

/* The file that a call is about. */
static void file_of(char *path, size_t size, const struct seccomp_notif *asked, int at) {
    char link[32] = "cwd", name[4096] = "";
    int argument = calls[at].argument, by = calls[at].by;
    int descriptor = (int)asked->data.args[by == BY_PATH_FROM ? argument - 1 : argument];
    if (by == BY_DESCRIPTOR || (by == BY_PATH_FROM && descriptor != AT_FDCWD))
        snprintf(link, sizeof link, "fd/%d", descriptor);
    follow(path, size, asked->pid, link);
    if (by == BY_DESCRIPTOR)
        return;
    char memory[64];
    snprintf(memory, sizeof memory, "/proc/%d/mem", asked->pid);
    int file = open(memory, O_RDONLY | O_CLOEXEC);
    long n = pread(file, name, sizeof name - 1, (off_t)asked->data.args[argument]);
    close(file);
    name[n < 0 ? 0 : n] = 0;
    size_t used = name[0] == '/' ? 0 : strlen(path);
    snprintf(path + used, size - used, used ? "/%s" : "%s", name);
}

int main(int n_arguments, char **arguments) {
    if (n_arguments < 5)
        return 125;
    FILE *log = fopen(arguments[1], "we");
    long wanted = atol(arguments[2]), count = 0;
    int error = atoi(arguments[3]), sockets[2], listener = -1;
    char root[4096], path[8192];
    check(log && getcwd(root, sizeof root), arguments[1]);
    check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0, "socketpair");
    int child = fork();
    check(child >= 0, "fork");
    if (child == 0)
        run(sockets[1], arguments + 4);
    close(sockets[1]);
    check(pass(sockets[0], &listener, 0) == 1 && listener >= 0, "receiving the listener");
    for (;;) {
        struct pollfd ready = {listener, POLLIN, 0};
        if (poll(&ready, 1, -1) < 0 && errno == EINTR)
            continue;
        if (!(ready.revents & POLLIN))
            break; /* The program has ended. */
        struct seccomp_notif asked = {0};
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0)
            continue; /* It was killed meanwhile. */
        int at = 0;
        while (at < N_CALLS - 1 && calls[at].number != asked.data.nr)
            at++;
        file_of(path, sizeof path, &asked, at);
        int is_ours = strncmp(path, root, strlen(root)) == 0 && path[strlen(root)] == '/';
        struct seccomp_notif_resp answer = {.id = asked.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
        if (is_ours) {
            fprintf(log, "%s %s\n", calls[at].name, path + strlen(root) + 1);
            if (++count == wanted && error) {
                answer.flags = 0;
                answer.error = -error;
            } else if (count == wanted) {
                kill(child, SIGKILL);
                continue;
            }
        }
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
    int status;
    check(waitpid(child, &status, 0) == child && fclose(log) == 0, "waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
