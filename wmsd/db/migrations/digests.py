"""The digests of the schemas that all migrations make, so that an opening need not run them to know one. A test
says what to write here after a new migration.
"""

from typing import Final

DIGESTS: Final = {
    "company": "3951ef50a1ba1a1eaf5f1452709da2a664932defc367aeb202600c3a433cb5c9",
    "platform": "e266b694b35f346b5fd3e087427643b4cc4739e2f046a574f893cf277bfd0ab5",
}
