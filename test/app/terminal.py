"""A terminal for the command to talk to. Where none can be opened, the test is skipped."""
import os
import struct
import sys

try:
    import fcntl
    import pty
    import termios
    for end in pty.openpty():
        os.close(end)
except (ImportError, OSError) as reason:
    print("skipped: no terminal can be opened here:", reason)
    sys.exit(77)

COLUMNS = 80
ENVIRONMENT = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}


def open_terminal():
    """Our end, and the command's, which is 80 columns wide."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    return ours, its
