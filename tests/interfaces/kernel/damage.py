from tests.support.world import World


async def damage(world: World, company: int) -> None:
    """As a broken disk leaves it: known when it is next read."""
    database = await world.database(company)
    await database.close()
    world.installation.files.path(company).write_bytes(b"not a database" * 1000)
