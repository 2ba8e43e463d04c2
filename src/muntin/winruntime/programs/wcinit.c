/* wcinit.exe: starts a container's Windows program, carries its stdio, reports its exit code.
 *
 * Linux pipes are not Windows pipes (libuv programs refuse them), so standard handles that are
 * pipes are replaced by real named pipes and pumped. What to start is in the file that the
 * environment variable WCINIT_START says, as UTF-8 records that each end in a NUL:
 *
 *   command line, current directory, where to say "started", where to write the status,
 *   then NAME=VALUE for each environment variable
 *
 * "started" gets `started 0` once the program is ready to run, else the Windows error number; the
 * program runs when one byte comes back. The status is the exit code in decimal (32 bits,
 * unsigned), or `failed N` when the program could not be started. Each place is a Linux path or
 * the number of an inherited descriptor; an empty one is not written.
 */
#define _WIN32_WINNT 0x0a00
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "unix.h"

#define EXIT_NOT_STARTED 126
#define EXIT_NOT_FOUND 127
#define LAST_OUTPUT_MS 2000

struct pump {
    HANDLE from, to;
    BOOL close_to;
};

struct start {
    char *data;
    WCHAR *command_line, *directory;
    const char *started, *status;
};

static struct start start;

/* The records are kept for the life of the process. */
static char *read_file(const char *where) {
    long long fd = unix_descriptor(where);
    if (fd < 0) fd = unix_call(UNIX_OPEN, (long long)where, UNIX_O_CLOEXEC, 0, 0);
    size_t size = 0, room = 65536;
    char *data = malloc(room + 2);
    if (fd < 0 || !data) return NULL;
    for (;;) {
        long long got = unix_call(UNIX_READ, fd, (long long)(data + size), room - size, 0);
        if (got == -UNIX_EINTR) continue;
        if (got <= 0) break;
        size += got;
        if (size == room) data = realloc(data, (room *= 2) + 2);
    }
    unix_call(UNIX_CLOSE, fd, 0, 0, 0);
    data[size] = data[size + 1] = 0; /* an empty record ends the list */
    return data;
}

static WCHAR *wide(const char *text) {
    int length = MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0);
    WCHAR *result = malloc(length * sizeof(WCHAR));
    MultiByteToWideChar(CP_UTF8, 0, text, -1, result, length);
    return result;
}

static const char *next(const char *record) { return record + strlen(record) + 1; }

static void set_variable(const char *record) {
    WCHAR *name = wide(record), *value = wcschr(name + 1, L'=');
    if (value) *value++ = 0;
    SetEnvironmentVariableW(name, value);
    free(name);
}

/* What Wine keeps in the environment for itself; Windows has none of it. */
static void hide_wine(void) {
    static const WCHAR *const names[] = {L"HOME", L"LANG", L"LOGNAME", L"USER", L"winsysdir"};
    WCHAR *block = GetEnvironmentStringsW(), *next_variable;
    for (WCHAR *at = block; *at; at = next_variable) {
        next_variable = at + wcslen(at) + 1;
        WCHAR *equals = wcschr(at + 1, L'=');
        if (wcsncmp(at, L"WINE", 4) || !equals) continue;
        *equals = 0;
        SetEnvironmentVariableW(at, NULL);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        SetEnvironmentVariableW(names[i], NULL);
    FreeEnvironmentStringsW(block);
}

static BOOL read_start(void) {
    char where[512];
    if (!GetEnvironmentVariableA("WCINIT_START", where, sizeof where)) return FALSE;
    if (!(start.data = read_file(where))) return FALSE;
    const char *record = start.data;
    start.command_line = wide(record);
    start.directory = wide(record = next(record));
    start.started = record = next(record);
    start.status = record = next(record);
    unix_keep_private(start.started);
    unix_keep_private(start.status);
    SetEnvironmentVariableA("WCINIT_START", NULL);
    hide_wine();
    for (record = next(record); *record; record = next(record)) set_variable(record);
    return TRUE;
}

static void report(const char *where, const char *form, unsigned long value) {
    char text[32];
    if (*where) unix_write_to(where, text, sprintf(text, form, value));
}

/* Returns at once where nobody answers: without a descriptor, or when its other end is closed. */
static void wait_for_answer(const char *where) {
    long long fd = unix_descriptor(where), got;
    char answer;
    do {
        got = fd < 0 ? 0 : unix_call(UNIX_READ, fd, (long long)&answer, 1, 0);
    } while (got == -UNIX_EINTR);
}

static int not_started(DWORD error) {
    report(start.status, "failed %lu\n", error);
    report(start.started, "started %lu\n", error);
    return error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND ? EXIT_NOT_FOUND
                                                                          : EXIT_NOT_STARTED;
}

static DWORD WINAPI run_pump(void *argument) {
    struct pump *pump = argument;
    char buffer[65536];
    DWORD got, done;
    while (ReadFile(pump->from, buffer, sizeof buffer, &got, NULL) && got) {
        char *at = buffer;
        for (; got && WriteFile(pump->to, at, got, &done, NULL); at += done, got -= done) {}
        if (got) break;
    }
    if (pump->close_to) CloseHandle(pump->to);
    return 0;
}

/* A named pipe: our end, and theirs, which a child inherits. */
static BOOL make_pipe(HANDLE *ours, HANDLE *theirs, BOOL they_read) {
    static LONG serial;
    char name[80];
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    DWORD access = they_read ? GENERIC_READ | FILE_WRITE_ATTRIBUTES
                             : GENERIC_WRITE | FILE_READ_ATTRIBUTES;
    sprintf(name, "\\\\.\\pipe\\wcinit-%lu-%ld", GetCurrentProcessId(),
            InterlockedIncrement(&serial));
    *ours = CreateNamedPipeA(name, PIPE_ACCESS_DUPLEX | FILE_FLAG_FIRST_PIPE_INSTANCE,
                             PIPE_TYPE_BYTE | PIPE_WAIT, 1, 65536, 65536, 0, NULL);
    if (*ours == INVALID_HANDLE_VALUE) return FALSE;
    *theirs = CreateFileA(name, access, 0, &inherit, OPEN_EXISTING, FILE_FLAG_OVERLAPPED, NULL);
    return *theirs != INVALID_HANDLE_VALUE;
}

/* Console events are for the program; this process only waits for it. */
static BOOL WINAPI ignore_event(DWORD event) {
    (void)event;
    return TRUE;
}

/* While we run, the program's processes end with us: a killed exec leaves nothing behind. */
static HANDLE job_around(HANDLE process) {
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {0};
    HANDLE job = CreateJobObjectA(NULL, NULL);
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
    AssignProcessToJobObject(job, process);
    return job;
}

static void release_job(HANDLE job) {
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {0};
    SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
}

int main(void) {
    static const DWORD ids[3] = {STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};
    static struct pump pumps[3];
    HANDLE threads[3] = {0}, theirs[3];
    STARTUPINFOW info = {.cb = sizeof info, .dwFlags = STARTF_USESTDHANDLES};
    PROCESS_INFORMATION process;
    DWORD code = EXIT_NOT_STARTED;

    if (!read_start()) {
        fputs("wcinit: nothing to start\n", stderr);
        return EXIT_NOT_STARTED;
    }
    for (int i = 0; i < 3; i++) {
        HANDLE given = theirs[i] = GetStdHandle(ids[i]), ours;
        if (GetFileType(given) != FILE_TYPE_PIPE) {
            SetHandleInformation(given, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
            continue;
        }
        if (!make_pipe(&ours, &theirs[i], i == 0)) return not_started(GetLastError());
        pumps[i] = i == 0 ? (struct pump){given, ours, TRUE} : (struct pump){ours, given, FALSE};
        threads[i] = CreateThread(NULL, 0, run_pump, &pumps[i], 0, NULL);
    }
    info.hStdInput = theirs[0];
    info.hStdOutput = theirs[1];
    info.hStdError = theirs[2];
    SetConsoleCtrlHandler(ignore_event, TRUE);
    if (*start.directory && !SetCurrentDirectoryW(start.directory))
        return not_started(ERROR_DIRECTORY);
    if (!CreateProcessW(NULL, start.command_line, NULL, NULL, TRUE, CREATE_SUSPENDED, NULL, NULL,
                        &info, &process))
        return not_started(GetLastError());
    HANDLE job = job_around(process.hProcess);
    report(start.started, "started %lu\n", 0);
    wait_for_answer(start.started);
    ResumeThread(process.hThread);
    for (int i = 0; i < 3; i++)
        if (threads[i]) CloseHandle(theirs[i]);
    WaitForSingleObject(process.hProcess, INFINITE);
    GetExitCodeProcess(process.hProcess, &code);
    for (int i = 1; i < 3; i++)
        if (threads[i]) WaitForSingleObject(threads[i], LAST_OUTPUT_MS);
    release_job(job);
    report(start.status, "%lu\n", code);
    ExitProcess(code);
}
