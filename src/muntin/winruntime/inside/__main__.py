"""Start one of the programs of this folder: ``__main__.py PROGRAM ARGUMENT...``."""

import sys
from importlib import import_module
from os.path import abspath, basename, dirname


def main(argv: list[str]) -> int:
    """Run ``argv[1]`` (a name, with or without ``.exe`` or a path) with the rest; its exit code."""
    folder = dirname(abspath(__file__))
    sys.path.insert(0, dirname(folder))
    name = argv[1].replace("\\", "/").rsplit("/", 1)[-1].lower().removesuffix(".exe")
    package = basename(folder)
    programs = import_module(package).PROGRAMS
    if name not in programs:
        print(f"{name}: not one of {', '.join(programs)}", file=sys.stderr)
        return 127
    program = import_module(
        f"{package}.{name}.command" if name == "powershell" else f"{package}.{name}"
    )
    code: int = program.main(argv[2:])
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv))
