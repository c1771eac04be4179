"""The digests of the schemas that all migrations make, so that an opening need not run them to know one. A test
says what to write here after a new migration.
"""

from typing import Final

DIGESTS: Final = {
    "company": "19a502ecfdd9122e35870545d2e88166ca1735ae95bc041e9a0eec5215522de7",
    "platform": "e266b694b35f346b5fd3e087427643b4cc4739e2f046a574f893cf277bfd0ab5",
}
