"""The digest of each complete schema. With it, wmsd can check the schema of a file without running the migrations.

After a new migration, a failing test says what to write here.
"""

from typing import Final

DIGESTS: Final = {
    "company": "173affd09cb06990216d814cd0c380e951b1c3a5fa68cd0e5a47ad84ee6720d6",
    "platform": "fb94ebbd860fde1f45e9f6f9b8f6b7b9dc35e92211472c733aae3afa908756b7",
}
