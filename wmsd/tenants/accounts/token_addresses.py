"""Audit entries about the first use of a token from a network, so that admins notice a stolen token.

Only tokens that an admin created are reported, because programs that sign in again have a new token each time. The
user of a token could use it from very many addresses. Therefore at most twenty networks per token are reported.
"""

import ipaddress
from collections.abc import Iterable, Mapping
from typing import Final

from wmsd.base.strict_json import dumps
from wmsd.contract.context import Actor
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.companies import store as companies

USE: Final = "token.use"
MOST_ADDRESSES: Final = 20
NETWORK: Final = 64
"""The number of bits of an IPv6 address that identify a network. The remaining bits may change daily, although the
machine is the same.
"""
OF_ADMINS: Final = """
    SELECT tokens.id, tokens.name, tokens.last_used_from, users.email
    FROM tokens JOIN users ON users.id = tokens.user_id
    WHERE tokens.id IN (SELECT value FROM json_each(?)) AND NOT tokens.signed_in
"""
Known = dict[int, set[str]]


class TokenAddresses:
    def __init__(self) -> None:
        self._known: Known | None = None
        """The networks that already have an audit entry, by token id. None until they are first read from the
        audit.
        """

    def tell(self, tx: Transaction, uses: Iterable[Mapping[str, object]]) -> Known:
        """Write an audit entry for each use of a token from a new network. Return the new networks by token id.

        Call this method before you store the uses. After they are stored, pass the result to `note_known`.
        """
        by_id = {each["id"]: str(each["address"]) for each in uses}
        new: Known = {}
        for token_id, name, before, email in tx.rows(OF_ADMINS, (dumps(list(by_id)),)):
            address = by_id[token_id]
            network = network_of(address)
            if before is not None and network_of(before) == network:
                continue
            known = self._read(tx).get(token_id, set())
            if network not in known and len(known) < MOST_ADDRESSES:
                companies.write_audit(tx, USE, f"{token_id} {name}", None, Actor(email, address=address))
                new[token_id] = {network}
        return new

    def note_known(self, new: Known) -> None:
        for token_id, networks in new.items():
            if self._known is not None:
                self._known.setdefault(token_id, set()).update(networks)

    def _read(self, tx: Transaction) -> Known:
        if self._known is None:
            self._known = {}
            for subject, address in tx.rows("SELECT subject, address FROM audit WHERE action = ?", (USE,)):
                token_id = int(subject.partition(" ")[0])
                self._known.setdefault(token_id, set()).add(network_of(address or ""))
        return self._known


def network_of(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return address
    return str(ipaddress.ip_network((parsed, NETWORK), strict=False))
