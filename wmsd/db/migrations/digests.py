"""The digest of each complete schema. With it, wmsd can check the schema of a file without running the migrations.

After a new migration, a failing test says what to write here.
"""

from typing import Final

DIGESTS: Final = {
    "company": "81005b37c0e741732843c02c62cec6f42ef18a265948f37e25615f47091a7c64",
    "platform": "fb94ebbd860fde1f45e9f6f9b8f6b7b9dc35e92211472c733aae3afa908756b7",
}
