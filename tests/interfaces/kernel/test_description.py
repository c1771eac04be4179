"""The description of the kernel interface."""

from openapi_spec_validator import validate

from tests.support.world import KERNEL, World
from wmsd.interfaces.kernel.routes import ROUTES


async def test_the_description_is_valid_and_has_every_route(kernel: World) -> None:
    document = (await kernel.call("GET", f"{KERNEL}openapi.json")).body
    validate(document)
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert described == {(route.method, route.path) for route in ROUTES}
    assert document["components"]["securitySchemes"].keys() == {"kernel"}
    for route in ROUTES:
        told = document["paths"][route.path][route.method.lower()]
        assert {"200", "401", "429", "500", "503"} <= set(told["responses"])
        in_path = [each["name"] for each in told["parameters"] if each["in"] == "path"]
        assert in_path == list(route.operation.path_types)


async def test_nothing_public_tells_of_it(world: World) -> None:
    for path in ("/api", "/openapi.json", "/api/v2/openapi.json", "/docs/api"):
        answer = await world.send("GET", path, token="", company="")
        assert (answer.status, b"kernel" in answer.raw) == (200, False), path
