"""The digest of each complete schema. With it, wmsd can check the schema of a file without running the migrations.

After a new migration, a failing test says what to write here.
"""

from typing import Final

DIGESTS: Final = {
    "company": "a6b01f32ed99884497d38c2b2e6279d233cc1c9e418378f07cc4b17742a40afe",
    "platform": "fb94ebbd860fde1f45e9f6f9b8f6b7b9dc35e92211472c733aae3afa908756b7",
}
