"""The routes of the transport integration."""

from typing import Final

from wmsd.contract.route import Route
from wmsd.platform import discovery
from wmsd.warehouse.transports import actions as transports

ROUTES: Final = (
    Route("GET", "/api/integrations/etsm/openapi.json", discovery.get_openapi_etsm),
    Route("GET", "/api/integrations/etsm/orders", transports.list_orders_to_load),
    Route("POST", "/api/integrations/etsm/transports", transports.plan_transport),
    Route("GET", "/api/integrations/etsm/transports/{transport_ecc}", transports.get_transport),
    Route("POST", "/api/integrations/etsm/transports/{transport_ecc}/status", transports.move_transport),
)
