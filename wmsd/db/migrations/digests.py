"""The digests of the schemas that all migrations make, so that an opening need not run them to know one. A test
says what to write here after a new migration.
"""

from typing import Final

DIGESTS: Final = {
    "company": "f4dca70da67c4671eb08b3669d6eae362de74337e76b4cd6628f3fe11f235508",
    "platform": "81af8e72b486363446b952cc51ad6b7b1467aa2c78d7d873f33a2a734085e782",
}
