/* pause.exe: the program of the pause image; it waits until the container is stopped. */
#include <windows.h>

static HANDLE stopped;

static BOOL WINAPI on_event(DWORD event) {
    (void)event;
    SetEvent(stopped);
    return TRUE;
}

int main(void) {
    stopped = CreateEventA(NULL, TRUE, FALSE, NULL);
    SetConsoleCtrlHandler(on_event, TRUE);
    WaitForSingleObject(stopped, INFINITE);
    return 0;
}
