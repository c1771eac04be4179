"""Failures of files in sentences for whoever typed a command, and may mend them."""

from wmsd.db.engine.failures import StorageError, explain, is_damage


def as_storage_error(error: Exception) -> StorageError:
    reason = " ".join(str(error).split())
    if is_damage(error):
        return StorageError(
            f"A file in the data folder is damaged ({reason}). `wmsd doctor` says which, and how it is restored."
        )
    known = explain(error)
    return StorageError(f"The data cannot be used: {reason if known is None else f'{known.message} ({reason})'}")
