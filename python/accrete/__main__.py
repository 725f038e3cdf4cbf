"""The command accrete: the binary, with the arguments it was given."""

import os
import subprocess
import sys

from ._session import binary


def main() -> None:
    path = binary()
    if os.name == "nt":
        sys.exit(subprocess.call([path] + sys.argv[1:]))
    os.execv(path, [path] + sys.argv[1:])


if __name__ == "__main__":
    main()
