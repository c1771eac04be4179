"""`wmsd graphql`."""

import click

from wmsd.interfaces.graphql.schema import schema_text


@click.group()
def graphql_command() -> None:
    """Show the schema of the GraphQL interface, /api/graphql."""


@graphql_command.command("schema")
def schema_command() -> None:
    """Write the schema to standard output, for editors and code generators.

    It is the same for every company, and a running server has it at /api/graphql/schema.

    Example: wmsd graphql schema > schema.graphql
    """
    click.echo(schema_text(), nl=False)
