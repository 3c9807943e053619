"""What all rivals share: where the files of a cell are, and how a fold is stopped.

A cell is one fold of one method on one data set. Its files are

    WORK/SET/METHOD/fold-K.csv     the answers to the rows of fold K, in the order of the data: a column of 0
                                   and 1 for each label, perhaps then `label:probability` for each
    WORK/SET/METHOD/fold-K.json    CPU seconds, {"train": 1.5, "predict": 0.1}; or {"stopped": 900}, a fold
                                   that needed more, or {"failed": "why"}

so that anybody can add a method by writing such files. The second is written last: where it is, the cell
is done.
"""

import fcntl
import json
import os
import resource
import signal

# CPU seconds that a fold may take, training and predicting together.
LIMIT = 900


def directory(work, name, method):
    return os.path.join(work, name, method)


def paths(work, name, method, fold):
    stem = os.path.join(directory(work, name, method), f"fold-{fold}")
    return stem + ".csv", stem + ".json"


def done(work, name, method, fold):
    return os.path.exists(paths(work, name, method, fold)[1])


def write(path, text):
    """A file that appears under its name only when it is whole."""
    part = f"{path}.{os.getpid()}.part"
    with open(part, "w") as file:
        file.write(text)
    os.replace(part, path)


def record(work, name, method, fold, of):
    write(paths(work, name, method, fold)[1], json.dumps(of) + "\n")


def limit():
    """Called in a process that is about to run a fold: the system ends it when its CPU time is up."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))


def outcome(status, usage, message):
    """What is to be recorded of a process that did not end well."""
    spent = usage.ru_utime + usage.ru_stime
    code = os.waitstatus_to_exitcode(status)
    if code in (-signal.SIGXCPU, -signal.SIGKILL) and spent > LIMIT - 2:
        return {"stopped": LIMIT}
    return {"failed": message.strip()[-300:] or f"exit status {code}"}


class Claim:
    """Keeps a second run from computing the same cell at the same time; false where another one has it."""

    def __init__(self, work, name, method, fold):
        os.makedirs(directory(work, name, method), exist_ok=True)
        self.path = os.path.join(directory(work, name, method), f".fold-{fold}.lock")

    def __enter__(self):
        self.file = open(self.path, "w")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False

    def __exit__(self, *_):
        self.file.close()
