"""The digests of the schemas that all migrations make, so that an opening need not run them to know one. A test
says what to write here after a new migration.
"""

from typing import Final

DIGESTS: Final = {
    "company": "30096ac2db77a1aa98e940904e3795714060f7d5062d59a3bb1ddc0fa18e869f",
    "platform": "fb94ebbd860fde1f45e9f6f9b8f6b7b9dc35e92211472c733aae3afa908756b7",
}
