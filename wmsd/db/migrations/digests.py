"""The digests of the schemas that all migrations make, so that an opening need not run them to know one. A test
says what to write here after a new migration.
"""

from typing import Final

DIGESTS: Final = {
    "company": "e984236a9390c092fcfdf26b5573bff7a2f754a9d1edc303d8a572552c46319a",
    "platform": "fb94ebbd860fde1f45e9f6f9b8f6b7b9dc35e92211472c733aae3afa908756b7",
}
