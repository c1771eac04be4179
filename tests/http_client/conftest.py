from tests.support.dialling import authority, pytest_asyncio_loop_factories, receivers

__all__ = ["authority", "pytest_asyncio_loop_factories", "receivers"]
