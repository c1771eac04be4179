"""The digests of the schemas that all migrations make, so that an opening need not run them to know one. A test
says what to write here after a new migration.
"""

from typing import Final

DIGESTS: Final = {
    "company": "51117a3d0c125e5804c273d8b62c15c1eaef4180770bcfc733fe0bf79d486cee",
    "platform": "e266b694b35f346b5fd3e087427643b4cc4739e2f046a574f893cf277bfd0ab5",
}
