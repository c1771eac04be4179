"""The digests of the schemas that all migrations make, so that an opening need not run them to know one. A test
says what to write here after a new migration.
"""

from typing import Final

DIGESTS: Final = {
    "company": "0be5db485c602744d6fd10c554149e805d29ab098390664e08a95f319316bd56",
    "platform": "e266b694b35f346b5fd3e087427643b4cc4739e2f046a574f893cf277bfd0ab5",
}
