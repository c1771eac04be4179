"""A trial of a provider's claims. It finds the user who could sign in with these claims, and the reason. wmsd
sends no request to the provider, and changes nothing.
"""

import base64
import re
from collections.abc import Mapping
from typing import Any, Final

from wmsd.base.problems import Problem, invalid
from wmsd.base.strict_json import parse_json
from wmsd.contract.operation import operation
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.companies import store as companies
from wmsd.tenants.sign_on.actions import decide_sign_on
from wmsd.tenants.sign_on.providers import Provider
from wmsd.tenants.sign_on.rules import Decision, Rights, rights_of
from wmsd.tenants.sign_on.schema import Sample, Tried
from wmsd.tenants.sign_on.service import SignOnService

TOKEN: Final = re.compile(r"[\w-]+\.([\w-]+)\.[\w-]*", re.ASCII)


@operation(
    tag="Sessions",
    answer="object",
    returns=Tried,
    scope="installation",
    role="platform-admin",
    codes=("NOT_FOUND",),
    max_body=64 * 1024,
)
async def try_sign_on(service: SignOnService, body: Sample) -> dict[str, object]:
    """Find the user who can sign in with these claims.

    The signature of an ID token is not checked.
    """
    claims = _claims(body.claims)

    def look(tx: Transaction) -> dict[str, object]:
        provider = service.published(body.provider).provider
        decision = decide_sign_on(tx, provider, claims)
        return _shown(provider, decision, {company.code: company.id for company in companies.companies(tx)})

    return await service.platform.read(look)


def _claims(text: str) -> Mapping[str, Any]:
    """Read the claims from `text`, which must be a JSON object or an ID token. Raise Problem (422) for any other
    text.
    """
    token = TOKEN.fullmatch(text.strip())
    try:
        raw = text.encode() if token is None else base64.urlsafe_b64decode(token[1] + "=" * (-len(token[1]) % 4))
        claims, errors = parse_json(raw)
    except (Problem, ValueError):
        raise invalid({"claims": ["must be a JSON object, or an ID token"]}) from None
    if errors:
        sentences_of_claims = [
            f"contains {path or 'a value'}, which {sentences[0]}" for path, sentences in errors.items()
        ]
        raise invalid({"claims": sentences_of_claims[:1]})
    return claims


def _shown(provider: Provider, decision: Decision, ids: Mapping[str, int]) -> dict[str, object]:
    user = decision.user
    rights = decision.rights or (None if user is None else rights_of(user))
    refusal = decision.refusal
    person = decision.person
    named = dict.fromkeys(code for rule in provider.rules for code in rule.companies)
    return {
        "subject": person.subject,
        "email": person.email,
        "name": person.name,
        "why": decision.why,
        "refusal": None if refusal is None else f"{refusal.because}. {refusal.remedy}",
        "is_new": decision.is_new,
        "role": None if rights is None else rights.role,
        "companies": _codes(rights, ids),
        "abilities": [] if rights is None else list(rights.abilities),
        "changes": user is not None and decision.rights is not None,
        "missing_companies": [code for code in named if code not in ids],
        "rules": [{**rule.model_dump(), "says": says} for rule, says in decision.judged],
    }


def _codes(rights: Rights | None, ids: Mapping[str, int]) -> list[str] | None:
    if rights is None or rights.role == "platform-admin":
        return None
    return [code for code, id_ in ids.items() if id_ in rights.company_ids]
