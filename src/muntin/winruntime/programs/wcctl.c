/* wcctl.exe EVENT [PID]: sends a console control event to the container's programs, or to one.
 *
 * Events are wincon.h's numbers: 0 Ctrl+C, 1 Ctrl+Break, 2 close, 5 log-off, 6 shutdown. A thread
 * that runs kernelbase's CtrlRoutine is started in each process, as the console host does.
 * Exit code: 0 if any process got it, 1 if none, 2 if it cannot be done here.
 */
#include <stdlib.h>
#include <windows.h>
#include <tlhelp32.h>

static const char *const not_programs[] = {
    "services.exe", "winedevice.exe", "plugplay.exe", "explorer.exe", "svchost.exe", "rpcss.exe",
    "conhost.exe",  "wineboot.exe",   "wcinit.exe",   "wcctl.exe",    "wclinger.exe",
    "start.exe",
};

static BOOL is_program(const char *name) {
    for (size_t i = 0; i < sizeof not_programs / sizeof *not_programs; i++)
        if (!_stricmp(name, not_programs[i])) return FALSE;
    return TRUE;
}

static BOOL send_event(DWORD pid, LPTHREAD_START_ROUTINE routine, DWORD event) {
    HANDLE process = OpenProcess(PROCESS_ALL_ACCESS, FALSE, pid);
    if (!process) return FALSE;
    return CreateRemoteThread(process, NULL, 0, routine, (void *)(ULONG_PTR)event, 0, NULL) != NULL;
}

int main(int argc, char **argv) {
    LPTHREAD_START_ROUTINE routine =
        (LPTHREAD_START_ROUTINE)(void *)GetProcAddress(GetModuleHandleA("kernelbase"), "CtrlRoutine");
    PROCESSENTRY32 entry = {.dwSize = sizeof entry};
    HANDLE snapshot = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    if (argc < 2 || !routine || snapshot == INVALID_HANDLE_VALUE) return 2;

    DWORD event = strtoul(argv[1], NULL, 10), only = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    int sent = 0;
    for (BOOL more = Process32First(snapshot, &entry); more; more = Process32Next(snapshot, &entry)) {
        BOOL wanted = only ? entry.th32ProcessID == only : is_program(entry.szExeFile);
        if (wanted) sent += send_event(entry.th32ProcessID, routine, event);
    }
    return sent ? 0 : 1;
}
