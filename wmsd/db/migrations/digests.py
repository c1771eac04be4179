"""The digests of the schemas that all migrations make, so that an opening need not run them to know one. A test
says what to write here after a new migration.
"""

from typing import Final

DIGESTS: Final = {
    "company": "3bfffce6f0752715c5964ee171122ec8540ad48e7dfa82b2dc5f1da0d15f95fa",
    "platform": "fb94ebbd860fde1f45e9f6f9b8f6b7b9dc35e92211472c733aae3afa908756b7",
}
