"""Stop a program at a place, the same in every run, and not at a moment: file_events.c says what counts as an event."""
import os
import subprocess


class Events:
    """Of the library `file_events`, built from file_events.c."""

    def __init__(self, library):
        self.library = os.path.abspath(library)

    def environment(self, **what):
        """For subprocess: EVENT_AT=1 as at=1, and so on."""
        named = {"EVENT_" + name.upper(): str(int(value) if isinstance(value, int) else value) for name, value in what.items()}
        # the address sanitizer wants to come first, and need not
        return {**os.environ, **named, "LD_PRELOAD": self.library, "ASAN_OPTIONS": "verify_asan_link_order=0"}

    def count(self, words, folder):
        """How many a run has that nothing stops; 0: it fails."""
        told = os.path.join(folder, "events")
        done = subprocess.run(words, cwd=folder, env=self.environment(count=told), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False)
        with open(told, encoding="ascii") as file:
            number = int(file.read())
        os.remove(told)
        return number if done.returncode == 0 else 0
