"""The command `wmsd graphql`."""

import click

from wmsd.interfaces.graphql.schema import schema_text


@click.group()
def graphql_command() -> None:
    """Write the schema of the GraphQL interface, /api/graphql."""


@graphql_command.command("schema")
def schema_command() -> None:
    """Write the schema to standard output, for editors and code generators.

    The schema is the same for every company. A running server also serves it at /api/graphql/schema.

    Example: wmsd graphql schema > schema.graphql
    """
    click.echo(schema_text(), nl=False)
