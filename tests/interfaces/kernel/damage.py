from tests.support.world import World


async def damage(world: World, company: int) -> None:
    """Damage the file of a company as a broken disk does: the damage is detected at the next read."""
    database = await world.database(company)
    await database.close()
    world.installation.files.path(company).write_bytes(b"not a database" * 1000)
