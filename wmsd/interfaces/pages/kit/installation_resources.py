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
        "Invite a user",
        user_administration.invite_user,
        "You get a link to send to the user. With this link, the user chooses a password and can then sign in.",
        goes_to="once",
        template="invited",
        sets=ABILITY_SETS,
    ),
    Act(
        "change",
        "Change",
        user_administration.change_user,
        "Rights that you remove end immediately. Rights that you add apply after the user signs in again. "
        "Existing tokens do not get these rights.",
        "The user is changed.",
        changes=True,
        done_where=("waiting_since", "The user is changed. The new rights are waiting: see below."),
        sets=ABILITY_SETS,
    ),
    Act(
        "link",
        "Create password link",
        user_administration.renew_invitation,
        (
            "You get a link to send to the user, who then chooses a new password: after forgetting the password, "
            "or because new rights need a new password. The current password works until the link is used."
        ),
        goes_to="once",
        when=("active", True),
        template="invited",
    ),
    Act(
        "end-access",
        "End sessions and tokens",
        user_administration.end_user_access,
        (
            "All sessions of this user end, all tokens of this user are revoked, and an unused password "
            "link stops working. Programs with these tokens stop working. The user may sign in again."
        ),
        "The sessions are ended, and the tokens are revoked.",
        is_final=True,
    ),
    Act(
        "shut-out",
        "Disable the user",
        user_administration.shut_out_user,
        "The user can no longer sign in, and tokens of the user stop working. The user's work is kept. "
        "You can enable the user again.",
        "The user is disabled.",
        is_final=True,
        when=("active", True),
    ),
    Act(
        "let-in",
        "Enable the user",
        user_administration.let_in_user,
        "The password works again, and so do the tokens that were not revoked.",
        "The user is enabled.",
        done_where=(
            "needs_link",
            "The user is enabled, but has no password yet. Create a password link.",
        ),
        when=("active", False),
    ),
    Act(
        "email",
        "Change the e-mail address",
        user_administration.change_user_email,
        (
            "The user signs in with the new address from now on. The password stays the same, and sessions "
            "and tokens continue to work. An unused password link stops working."
        ),
        "The e-mail address is changed.",
        changes=True,
    ),
    Act(
        "delete",
        "Delete",
        user_administration.delete_user,
        "wmsd deletes the user with all sessions and tokens, and programs with these tokens stop "
        "working. The audit keeps the user's actions and e-mail address. To keep the user for later, "
        "disable the user instead.",
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
        "The data of each company is in a separate file, which no other company can see.",
        "Company created.",
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
        "The id stays the same, so programs that send the id continue to work. If rules of single "
        "sign-on in the settings contain the code, change the code there too.",
        "The code is changed.",
        changes=True,
    ),
    Act(
        "time-zone",
        "Choose the time zone",
        company_administration.choose_company_time_zone,
        "This time zone decides what is late or due today, and sets the times on pages and documents. "
        "Programs see UTC.",
        "The time zone is changed.",
        changes=True,
    ),
    Act(
        "policies",
        "Change the policies",
        company_policies.change_company_policies,
        "The policies apply to every article that does not have its own value.",
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
        "An operator is a logistics company (3PL) that runs the warehouses of other companies.",
        "Operator created.",
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
        "With a token, a program acts for a user, with at most the rights that the user has now. The next page "
        "shows the token, only once.",
        goes_to="once",
        template="token",
    ),
    Act(
        "revoke",
        "Revoke",
        token_administration.revoke_token_record,
        "wmsd refuses the token from the next request on. Programs that use the token stop working.",
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
        "A site gives a transport planning program access to one warehouse, with its own bearer token. The "
        "next page shows the token, only once.",
        goes_to="once",
        template="bearer",
    ),
    Act(
        "renew",
        "New bearer token",
        sites.renew_site_bearer,
        "The planner of this site gets a new bearer token. If the old token was revoked, the site works again.",
        goes_to="once",
        template="bearer",
    ),
    Act(
        "revoke",
        "Revoke",
        sites.revoke_site_bearer,
        "wmsd refuses all bearer tokens of this site from the next request on, and the planner stops "
        "working. The site stays, and works again with a new bearer token.",
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
        (
            "With the platform token, a program reads the totals of all companies, and switches their "
            "modules on and off. There is only one platform token: if it exists already, replace it "
            "instead. The next page shows the token, only once."
        ),
        goes_to="once",
        template="kernel_token",
    ),
    Act(
        "replace",
        "Replace",
        kernel_tokens.replace_kernel_token,
        "You get a new platform token. Give the new token to the programs that manage the platform.",
        goes_to="once",
        template="kernel_token",
        when=("status", "current"),
    ),
    Act(
        "revoke",
        "Revoke",
        kernel_tokens.revoke_kernel_token,
        "wmsd refuses the token from the next request on. Programs that use the token stop working.",
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
        says=(
            "A transport site gives a transport planning program access to one warehouse. The bearer token of "
            "the site works only for the transport integration."
        ),
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
        says=(
            "A program with the platform token can read totals and the names of companies and "
            "warehouses, and switch modules on and off. The program cannot read records of a company. "
            "The addresses for the program begin with /api/kernel/v1."
        ),
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
