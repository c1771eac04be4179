"""The digests of the schemas that all migrations make, so that an opening need not run them to know one. A test
says what to write here after a new migration.
"""

from typing import Final

DIGESTS: Final = {
    "company": "0064ba89a11bad92930ef87a3906cb1008f1535e51c5f65fcef55fa476424c05",
    "platform": "e266b694b35f346b5fd3e087427643b4cc4739e2f046a574f893cf277bfd0ab5",
}
