/* wclinger.exe SECONDS DESCRIPTOR: keeps Wine running in a container for a while.
 *
 * Wine starts with the first Windows program of a container and ends with the last; both take
 * time. This program does nothing for some seconds, after telling its starter that Wine is up.
 */
#include <stdlib.h>
#include <windows.h>

#include "unix.h"

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    unix_keep_private(argv[2]);
    unix_write_to(argv[2], "started 0\n", 10);
    Sleep(strtoul(argv[1], NULL, 10) * 1000);
    return 0;
}
