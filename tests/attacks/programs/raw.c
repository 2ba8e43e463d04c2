/* raw.exe: what a hostile Windows program does under Wine: it leaves Wine.
 *
 * It makes Linux system calls itself: forks, and starts `/usr/bin/python3 -ISE` with the arguments
 * that follow. Standard streams are the Linux process's own, so output goes to the file RAW_OUTPUT.
 */
#include <stdio.h>
#include <stdlib.h>

#include "unix.h"

#define CREATE_FLAGS (UNIX_O_WRONLY | UNIX_O_CREAT | UNIX_O_TRUNC)

int main(int count, char **given) {
    static char *environment[] = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8", 0};
    char *arguments[64] = {"/usr/bin/python3", "-ISE"};
    int status = 0, last = 2;
    for (int i = 2; i < count && last < 63; i++) arguments[last++] = given[i];
    long long child = unix_call(UNIX_FORK, 0, 0, 0, 0);
    if (child == 0) {
        unsigned long long none = 0;
        unix_call(UNIX_RT_SIGPROCMASK, UNIX_SIG_SETMASK, (long long)&none, 0, 8);
        long long out = unix_call(UNIX_OPEN, (long long)given[1], CREATE_FLAGS, 0644, 0);
        unix_call(UNIX_DUP2, out, 1, 0, 0);
        unix_call(UNIX_DUP2, out, 2, 0, 0);
        unix_call(UNIX_CLOSE_RANGE, 3, ~0U, 0, 0);
        unix_call(UNIX_EXECVE, (long long)arguments[0], (long long)arguments,
                  (long long)environment, 0);
        unix_call(UNIX_EXIT, 126, 0, 0, 0);
    }
    if (child < 0 || unix_call(UNIX_WAIT4, child, (long long)&status, 0, 0) != child) return 125;
    return (status >> 8) & 0xff;
}
