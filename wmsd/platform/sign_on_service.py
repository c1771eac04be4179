"""Single sign-on in a running service: makes what it needs, from the settings."""

from wmsd.http_client.lazy_client import LazyClient
from wmsd.installation.open_installation import Installation, new_guard
from wmsd.tenants.sign_on.provider_requests import WANTED_BYTES
from wmsd.tenants.sign_on.service import SignOnService


def new_sign_on_client(installation: Installation) -> LazyClient:
    """The client that asks providers: as guarded as that of webhooks, by rules of its own."""
    settings = installation.settings
    return LazyClient(new_guard(settings, "sign_on"), settings.sign_on.ca_file, wanted=WANTED_BYTES)


def new_sign_on_service(installation: Installation, client: LazyClient) -> SignOnService:
    providers = installation.settings.sign_on.providers
    return SignOnService(installation.platform, installation.clock, installation.ids, client, providers)
