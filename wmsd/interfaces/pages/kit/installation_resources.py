"""The records of the installation: people, tokens, companies, operators, sites, platform tokens, the audit."""

from typing import Final

from wmsd.contract.access import ABILITY_SETS, Role, has_role
from wmsd.interfaces.pages.kit.acts import Act, Resource
from wmsd.platform import company_policies
from wmsd.platform.admin_view.company_rules import list_company_rules
from wmsd.platform.sites import make_site
from wmsd.tenants.accounts import kernel_tokens, token_administration, user_administration, user_lists
from wmsd.tenants.companies import company_administration
from wmsd.tenants.sites import actions as sites

USER_ACTS: Final = (
    Act(
        "new",
        "Invite somebody",
        user_administration.invite_user,
        "You get a link to send. Whoever has it chooses a password, and can sign in from then on.",
        goes_to="once",
        template="invited",
        sets=ABILITY_SETS,
    ),
    Act(
        "change",
        "Change",
        user_administration.change_user,
        "What you take away is gone at once. What you add opens to sessions and tokens that are made from now on.",
        "The user is changed.",
        changes=True,
        done_where=("waiting_since", "The user is changed. What is new waits: see below."),
        sets=ABILITY_SETS,
    ),
    Act(
        "link",
        "Link to a new password",
        user_administration.renew_invitation,
        "For somebody who has forgotten a password, has lost the link of an invitation, or has new rights that "
        "wait. The password of today stays until the link is used.",
        goes_to="once",
        when=("active", True),
        template="invited",
    ),
    Act(
        "end-access",
        "End sessions and tokens",
        user_administration.end_user_access,
        "All sessions of this user end, and all its tokens are revoked. Programs with these tokens stop working.",
        "The sessions are ended, and the tokens are revoked.",
        is_final=True,
    ),
    Act(
        "shut-out",
        "Shut out",
        user_administration.shut_out_user,
        "This user can do nothing any more, and neither can its tokens. What it has done stays. You can let it in "
        "again.",
        "The user is shut out.",
        is_final=True,
        when=("active", True),
    ),
    Act(
        "let-in",
        "Let in again",
        user_administration.let_in_user,
        "The password counts again, and so do the tokens that were not revoked.",
        "The user may come in again.",
        done_where=(
            "needs_link",
            "The user is not shut out any more, but has no password yet: make a link to one.",
        ),
        when=("active", False),
    ),
    Act(
        "email",
        "Change the e-mail address",
        user_administration.change_user_email,
        "The user signs in with the new address from now on. The password, sessions and tokens stay.",
        "The e-mail address is changed.",
        changes=True,
    ),
    Act(
        "delete",
        "Delete",
        user_administration.delete_user,
        "The user, its sessions and its tokens are gone. Programs with these tokens stop working. What was done "
        "stays in the audit, with the e-mail address. To keep the user for later, shut it out instead.",
        "The user is deleted.",
        goes_to="list",
        is_final=True,
    ),
)
COMPANY_ACTS: Final = (
    Act(
        "new",
        "New company",
        company_administration.create_company_record,
        "A company is a tenant with a file of its own. Nobody else sees its data.",
        "The company is made.",
    ),
    Act(
        "change",
        "Change",
        company_administration.change_company_record,
        done="The company is changed.",
        changes=True,
    ),
    Act(
        "rename",
        "Change the code",
        company_administration.rename_company_record,
        "The id stays, so programs that send it notice nothing. Rules of single sign-on that name the code are in "
        "the settings: change them there.",
        "The code is changed.",
        changes=True,
    ),
    Act(
        "time-zone",
        "Choose the time zone",
        company_administration.choose_company_time_zone,
        "Its days begin and end by this time zone: what is late, what is due today, and the moments on its pages "
        "and prints. Programs see UTC.",
        "The time zone is chosen.",
        changes=True,
    ),
    Act(
        "policies",
        "Change the policies",
        company_policies.change_company_policies,
        "They hold for every article that has no value of its own.",
        "The policies are changed.",
        changes=True,
        reads=company_policies.get_company_policies,
    ),
)
OPERATOR_ACTS: Final = (
    Act(
        "new",
        "New operator",
        company_administration.create_operator_record,
        "An operator runs the warehouses of several companies.",
        "The operator is made.",
    ),
    Act(
        "change",
        "Change",
        company_administration.change_operator_record,
        done="The operator is changed.",
        changes=True,
    ),
)
TOKEN_ACTS: Final = (
    Act(
        "new",
        "New token",
        token_administration.make_token,
        "A token lets a program act for a user. It may do no more than its user may do now.",
        goes_to="once",
        template="token",
    ),
    Act(
        "revoke",
        "Revoke",
        token_administration.revoke_token_record,
        "The token is refused from the next request on. Programs that use it stop working.",
        "The token is revoked.",
        is_final=True,
        when=("active", True),
    ),
)
SITE_ACTS: Final = (
    Act(
        "new",
        "New site",
        make_site,
        "A site is a warehouse whose transport planner signs in with a bearer of its own.",
        goes_to="once",
        template="bearer",
    ),
    Act(
        "renew",
        "New bearer",
        sites.renew_site_bearer,
        "The planner of this site gets another bearer. It also opens a site again whose bearer was revoked.",
        goes_to="once",
        template="bearer",
    ),
    Act(
        "revoke",
        "Revoke",
        sites.revoke_site_bearer,
        "All bearers of this site are refused from the next request on, and its planner stops working. The site "
        "stays: a new bearer opens it again.",
        "The site's bearer token is revoked.",
        is_final=True,
        when=("status", "active"),
    ),
)
KERNEL_TOKEN_ACTS: Final = (
    Act(
        "new",
        "New platform token",
        kernel_tokens.make_kernel_token,
        "There is one platform token at a time. It reads the figures of all companies and switches their modules.",
        goes_to="once",
        template="kernel_token",
    ),
    Act(
        "replace",
        "Replace",
        kernel_tokens.replace_kernel_token,
        "You get another platform token. Give it to the programs of those who run the platform.",
        goes_to="once",
        template="kernel_token",
        when=("status", "current"),
    ),
    Act(
        "revoke",
        "Revoke",
        kernel_tokens.revoke_kernel_token,
        "The token is refused from the next request on. Programs that use it stop working.",
        "The platform token is revoked.",
        is_final=True,
        when=("accepted", True),
    ),
)
ADMINISTRATION: Final = (
    Resource(
        "users",
        "People",
        user_lists.USERS.by_page,
        user_lists.USERS.by_cursor,
        ("email", "name", "role", "company_codes", "active", "last_seen_at"),
        user_administration.get_user_record,
        key="email",
        sort="email",
        acts=USER_ACTS,
        further=("rights", "Rights", "what this user may do, and why"),
    ),
    Resource(
        "tokens",
        "Tokens",
        user_lists.TOKENS.by_page,
        user_lists.TOKENS.by_cursor,
        ("name", "user", "abilities", "active", "expires_at", "expires_in_days", "last_used_at", "last_used_from"),
        token_administration.get_token_record,
        key="name",
        sort="-id",
        acts=TOKEN_ACTS,
    ),
    Resource(
        "companies",
        "Companies",
        company_administration.COMPANIES.by_page,
        company_administration.COMPANIES.by_cursor,
        ("code", "name", "operator_code", "sandbox", "modules", "updated_at"),
        company_administration.get_company_record,
        acts=COMPANY_ACTS,
        rules=list_company_rules,
    ),
    Resource(
        "operators",
        "Operators",
        company_administration.OPERATORS.by_page,
        company_administration.OPERATORS.by_cursor,
        ("code", "name", "sandbox", "sandbox_webhooks", "updated_at"),
        company_administration.get_operator_record,
        acts=OPERATOR_ACTS,
    ),
    Resource(
        "sites",
        "Transport sites",
        sites.SITES.by_page,
        sites.SITES.by_cursor,
        ("name", "company_code", "warehouse_code", "status", "last_used_at", "last_used_from"),
        sites.get_site_record,
        key="name",
        sort="name",
        acts=SITE_ACTS,
        says="The bearer of a site opens the transport integration for one warehouse, and nothing else.",
    ),
    Resource(
        "kernel-tokens",
        "Platform token",
        kernel_tokens.KERNEL_TOKENS.by_page,
        kernel_tokens.KERNEL_TOKENS.by_cursor,
        ("id", "status", "created_at", "expires_at", "last_used_at", "last_used_from"),
        kernel_tokens.get_kernel_token,
        key="id",
        sort="-id",
        acts=KERNEL_TOKEN_ACTS,
        says="The platform token opens the kernel interface at /api/kernel/v1, and nothing else: the figures and "
        "places of all companies, and their modules. It opens no record of a company.",
    ),
    Resource(
        "audit",
        "Audit",
        company_administration.AUDIT.by_page,
        company_administration.AUDIT.by_cursor,
        ("at", "actor", "action", "subject", "address", "details"),
        key="at",
        sort="-id",
    ),
)


def administered_by(role: Role) -> list[Resource]:
    """Return the kinds of records of the installation that a user with this role may see."""
    return [each for each in ADMINISTRATION if each.listing.role and has_role(role, each.listing.role)]
