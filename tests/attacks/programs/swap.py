"""Swap the folder FOLDER and a symbolic link to TARGET for ever, as fast as the kernel can."""

import contextlib
import ctypes
import os
import sys
import time

folder, target = sys.argv[1], sys.argv[2]
libc = ctypes.CDLL(None, use_errno=True)
link = folder + ".link"
os.makedirs(folder, exist_ok=True)
with contextlib.suppress(FileExistsError):
    os.symlink(target, link)
end = time.monotonic() + 120
print("swapping", flush=True)
while time.monotonic() < end:
    for _ in range(1000):
        libc.renameat2(-100, folder.encode(), -100, link.encode(), 2)
