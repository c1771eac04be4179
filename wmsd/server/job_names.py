"""What each job is called and does, in words for people."""

from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

Job = Callable[[], Awaitable[object]]


class Words(NamedTuple):
    title: str
    says: str


NOTICE_CHANGES: Final = Words(
    "Notice changes", "Sees what the command line has changed, and which files have moved."
)
SEND_WEBHOOKS: Final = Words("Send webhooks", "Looks which deliveries of webhooks are due, and sends them.")
WATCH_CLOCK: Final = Words("Watch the clock", "Sees when the clock of this machine was set.")
KEEP_CLOCK: Final = Words("Keep the time", "Writes down what time it is, so that the next start can compare.")
WRITE_TOKEN_USES: Final = Words("Uses of tokens", "Writes down when tokens were used last, and from where.")
WRITE_SESSION_USES: Final = Words("Uses of sessions", "Writes down when people were last at the pages.")
WRITE_FAILED_SIGN_INS: Final = Words(
    "Failed sign-ins", "Writes into the audit for which users signing in has failed, once an hour for each."
)
WRITE_REQUEST_COUNTS: Final = Words("Counts of requests", "Writes down how many requests each company has made.")
WRITE_MARKS: Final = Words(
    "Marks of files", "Writes down how far each file has come, so that an older copy is noticed."
)
KEEP_TODAY: Final = Words("Figures of Today", "Reads the figures of the page Today where something has changed.")
CLOSE_UNUSED: Final = Words("Close files", "Closes the files of companies that nobody uses.")
TRY_FAILED_WRITES: Final = Words("Try failed writes", "Tries whether a disk that failed works again.")
WRITE_LOGS_BACK: Final = Words("Write logs back", "Writes the logs of the databases back into their files.")
LOOK_AT_CREDENTIALS: Final = Words(
    "Credentials after a restore", "Tries after a restore which credentials of webhooks must be set again."
)
MAKE_RESERVE: Final = Words("Reserve of the disk", "Makes the file again that is given up when the disk is full.")
WATCH_DISK: Final = Words("Watch the disk", "Tells the log once when the disk fills up, and when it has room.")
ALERT: Final = Words(
    "Alerts", "Looks what needs a person, and tells it once when it begins and once when it is over."
)
SWEEP_TOKENS: Final = Words(
    "Remove expired tokens", "Deletes tokens that have expired, and sessions that are over."
)
TELL_OF_TOKENS: Final = Words(
    "Warn of tokens", "Has the log tell of each token two weeks and a day before its end."
)
TIDY_FILES: Final = Words("Tidy files", "Deletes old events, keys and deliveries, and keeps statistics fresh.")
FORGET_REQUESTS: Final = Words(
    "Forget old requests", "Deletes the kept requests of companies when they are too old."
)
FORGET_UPLOADS: Final = Words(
    "Forget old uploads", "Deletes the files that were uploaded for imports, after a day."
)
LOOK_AT_BACKUPS: Final = Words("Backups", "Makes a backup, proves it and deletes old ones, when that is due.")
