"""The routes of the kernel interface."""

from typing import Final

from wmsd.contract.route import Route
from wmsd.platform.kernel import actions as kernel

ROUTES: Final = (
    Route("GET", "/api/kernel/v1/openapi.json", kernel.get_openapi_kernel),
    Route("GET", "/api/kernel/v1/topology", kernel.get_topology),
    Route("GET", "/api/kernel/v1/stats", kernel.get_stats),
    Route("GET", "/api/kernel/v1/companies/{id}/modules/{module}", kernel.get_company_module),
    Route("PUT", "/api/kernel/v1/companies/{id}/modules/{module}", kernel.switch_company_module),
)
