"""What a person can do about an error of the system: one sentence for each kind of errno."""

import errno

_FULL = "free some space, or name another place"
_REMEDIES = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: "name a place whose file system takes files of this size",
    errno.EROFS: "the file system is read-only: name another place",
    errno.ESTALE: "the file system of the network has lost the file: mount it again, or name a "
    "place on a local disk",
    errno.ENOLCK: "the file system has no locks: name a place on a local disk",
    errno.EIO: "the disk reports a fault: check it, and name a place on another one",
    errno.EMFILE: "raise the limit of open files (`ulimit -n`)",
    errno.ENAMETOOLONG: "name a place with a shorter path",
}


def remedy_for(error: OSError) -> str:
    """Return what to do about an error of the system."""
    return _REMEDIES.get(error.errno or 0, "check the path and its permissions")


def is_of_disk(error: OSError) -> bool:
    """Whether an error is one of those above, and not one of a network or of a missing file."""
    return error.errno in _REMEDIES
