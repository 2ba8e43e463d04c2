/* unixrun.exe: a Windows program whose work is done by a Linux one.
 *
 * Installed under the name of the program it stands for (powershell.exe, curl.exe, ...); it starts
 * `/usr/bin/python3 -ISE /muntin/inside/__main__.py NAME ARGUMENT...` with the Windows environment
 * and the current directory in WINCWD, pumps standard handles, passes Ctrl+C on as SIGINT and the
 * other console events as SIGTERM, and ends with its exit code: the 32-bit one that it writes to
 * the file named by WCINIT_STATUS, if any, else its 8 bits.
 */
#define _WIN32_WINNT 0x0a00
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>
#include <shellapi.h>

#include "unix.h"

#define EXIT_NOT_STARTED 126
#define LAST_OUTPUT_MS 2000
#define PYTHON "/usr/bin/python3"
#define INSIDE "/muntin/inside/__main__.py"

struct stream {
    HANDLE handle;
    int fd;
};

static volatile LONG child;

static char *utf8(const WCHAR *text) {
    int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *result = malloc(size);
    WideCharToMultiByte(CP_UTF8, 0, text, -1, result, size, NULL, NULL);
    return result;
}

static BOOL WINAPI pass_event(DWORD event) {
    int signal = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT ? UNIX_SIGINT : UNIX_SIGTERM;
    if (child > 0) unix_call(UNIX_KILL, child, signal, 0, 0);
    return TRUE;
}

static DWORD WINAPI pump_in(void *argument) {
    struct stream *stream = argument;
    char buffer[65536];
    DWORD got;
    while (ReadFile(stream->handle, buffer, sizeof buffer, &got, NULL) && got) {
        for (char *at = buffer; got;) {
            long long done = unix_call(UNIX_WRITE, stream->fd, (long long)at, got, 0);
            if (done == -UNIX_EINTR) continue;
            if (done <= 0) goto end;
            at += done;
            got -= (DWORD)done;
        }
    }
end:
    unix_call(UNIX_CLOSE, stream->fd, 0, 0, 0);
    return 0;
}

static DWORD WINAPI pump_out(void *argument) {
    struct stream *stream = argument;
    char buffer[65536];
    for (;;) {
        long long got = unix_call(UNIX_READ, stream->fd, (long long)buffer, sizeof buffer, 0);
        if (got == -UNIX_EINTR) continue;
        if (got <= 0) return 0;
        DWORD done;
        for (char *at = buffer; got > 0; at += done, got -= done)
            if (!WriteFile(stream->handle, at, (DWORD)got, &done, NULL)) return 1;
    }
}

/* The name we were installed under, without folder and extension, in lower case. */
static char *program_name(void) {
    WCHAR path[MAX_PATH];
    GetModuleFileNameW(NULL, path, MAX_PATH);
    WCHAR *name = wcsrchr(path, L'\\'), *dot = wcsrchr(path, L'.');
    name = name ? name + 1 : path;
    if (dot > name) *dot = 0;
    return utf8(_wcslwr(name));
}

static char **arguments(void) {
    int count, k = 0;
    WCHAR **given = CommandLineToArgvW(GetCommandLineW(), &count);
    char **result = calloc(count + 5, sizeof *result);
    result[k++] = PYTHON;
    result[k++] = "-ISE";
    result[k++] = INSIDE;
    result[k++] = program_name();
    for (int i = 1; i < count; i++) result[k++] = utf8(given[i]);
    return result;
}

/* The Windows environment, with what Linux programs and Wine's loader need of their own. */
static char **environment(char *status_variable) {
    static char *const ours[] = {
        "HOME=/prefix", "LANG=C.UTF-8", "WINEPREFIX=/prefix", "WINEARCH=win64", "WINEDEBUG=-all",
        "WINEDLLOVERRIDES=mscoree,mshtml=", "WINESERVER=/usr/lib/wine/wineserver64",
    };
    const int our_count = sizeof ours / sizeof *ours;
    WCHAR directory[MAX_PATH], *block = GetEnvironmentStringsW(), *at;
    int count = 0, k = 0;
    for (at = block; *at; at += wcslen(at) + 1) count++;
    char **result = calloc(count + our_count + 3, sizeof *result);
    for (at = block; *at; at += wcslen(at) + 1)
        if (*at != L'=') result[k++] = utf8(at);
    for (int i = 0; i < our_count; i++) result[k++] = ours[i];
    result[k++] = status_variable;
    GetCurrentDirectoryW(MAX_PATH, directory);
    char *text = utf8(directory);
    result[k] = malloc(strlen(text) + sizeof "WINCWD=");
    sprintf(result[k], "WINCWD=%s", text);
    return result;
}

/* In the forked child: nothing but system calls until execve. */
static void become(int fds[3][2], char **argv, char **envp) {
    unsigned long long none = 0;
    struct {
        long long handler, flags, restorer, mask;
    } standard = {0, 0, 0, 0};
    for (int signal = 1; signal < 32; signal++)
        unix_call(UNIX_RT_SIGACTION, signal, (long long)&standard, 0, 8);
    unix_call(UNIX_RT_SIGPROCMASK, UNIX_SIG_SETMASK, (long long)&none, 0, 8);
    unix_call(UNIX_DUP2, fds[0][0], 0, 0, 0);
    unix_call(UNIX_DUP2, fds[1][1], 1, 0, 0);
    unix_call(UNIX_DUP2, fds[2][1], 2, 0, 0);
    unix_call(UNIX_CLOSE_RANGE, 3, ~0U, 0, 0);
    unix_call(UNIX_EXECVE, (long long)PYTHON, (long long)argv, (long long)envp, 0);
    unix_call(UNIX_EXIT, EXIT_NOT_STARTED, 0, 0, 0);
}

/* The code that the program left in its status file, which goes; else the one of wait4. */
static DWORD exit_code(const char *path, int status) {
    char text[32] = "";
    long long fd = unix_call(UNIX_OPEN, (long long)path, UNIX_O_CLOEXEC, 0, 0);
    if (fd >= 0) {
        unix_call(UNIX_READ, fd, (long long)text, sizeof text - 1, 0);
        unix_call(UNIX_CLOSE, fd, 0, 0, 0);
        unix_call(UNIX_UNLINK, (long long)path, 0, 0, 0);
    }
    if (*text >= '0' && *text <= '9') return strtoul(text, NULL, 10);
    return status & 0x7f ? 128 + (status & 0x7f) : (status >> 8) & 0xff;
}

int main(void) {
    int fds[3][2], status = 0;
    static char variable[64];
    const char *status_path = variable + sprintf(variable, "WCINIT_STATUS=");
    sprintf(variable + strlen(variable), "/tmp/unixrun-%lu", GetCurrentProcessId());
    char **argv = arguments(), **envp = environment(variable);
    for (int i = 0; i < 3; i++)
        if (unix_call(UNIX_PIPE2, (long long)fds[i], UNIX_O_CLOEXEC, 0, 0) < 0) return EXIT_NOT_STARTED;
    long long pid = unix_call(UNIX_FORK, 0, 0, 0, 0);
    if (pid == 0) become(fds, argv, envp);
    if (pid < 0) return EXIT_NOT_STARTED;
    child = (LONG)pid;
    SetConsoleCtrlHandler(pass_event, TRUE);
    unix_call(UNIX_CLOSE, fds[0][0], 0, 0, 0);
    unix_call(UNIX_CLOSE, fds[1][1], 0, 0, 0);
    unix_call(UNIX_CLOSE, fds[2][1], 0, 0, 0);
    static struct stream in, out, err;
    in = (struct stream){GetStdHandle(STD_INPUT_HANDLE), fds[0][1]};
    out = (struct stream){GetStdHandle(STD_OUTPUT_HANDLE), fds[1][0]};
    err = (struct stream){GetStdHandle(STD_ERROR_HANDLE), fds[2][0]};
    CreateThread(NULL, 0, pump_in, &in, 0, NULL);
    HANDLE outputs[2] = {CreateThread(NULL, 0, pump_out, &out, 0, NULL),
                         CreateThread(NULL, 0, pump_out, &err, 0, NULL)};
    long long waited;
    do {
        waited = unix_call(UNIX_WAIT4, pid, (long long)&status, 0, 0);
    } while (waited < 0 && waited != -10); /* until no such child */
    WaitForMultipleObjects(2, outputs, TRUE, LAST_OUTPUT_MS);
    ExitProcess(exit_code(status_path, status));
}
