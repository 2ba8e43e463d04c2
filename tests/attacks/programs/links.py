"""Plant symbolic links and FIFOs: ``links.py PATH=TARGET...``; an empty TARGET makes a FIFO."""

import contextlib
import os
import sys

for word in sys.argv[1:]:
    path, _, target = word.partition("=")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if target:
        os.symlink(target, path)
    else:
        os.mkfifo(path)
    print(path, os.lstat(path).st_mode)
