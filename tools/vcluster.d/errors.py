"""What can go wrong, by exit code. A message names the object, what is wrong with it, and what to do."""

EXIT_TIMEOUT = 124  # as timeout(1)


class Failure(Exception):
    exit_code = 1


class UsageError(Failure):
    exit_code = 2


class Unsupported(Failure):
    """This kernel, or this user's rights, cannot carry a cluster; test runners read 77 as "skipped"."""

    exit_code = 77
