"""A command whose first argument may also be the name of a subcommand."""

from collections.abc import Mapping
from typing import Any

import click


class WithOthers(click.Command):
    """A command with subcommands. If the first argument is the name of a subcommand, this subcommand runs.

    The class is not a click group, because in a click group the name must come before all options.
    """

    def __init__(self, *args: Any, others: Mapping[str, click.Command], **more: Any) -> None:
        super().__init__(*args, **more)
        self.others = others

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        name = self._other(args, parent)
        if name is None:
            return super().make_context(info_name, args, parent, **extra)
        args.remove(name)
        return self.others[name].make_context(f"{info_name} {name}", args, parent, **extra)

    def _other(self, args: list[str], parent: click.Context | None) -> str | None:
        """Return the first argument if it is the name of a subcommand, or else None."""
        # The arguments may contain options of the subcommand. The parent context knows the help options of the
        # program.
        context = click.Context(self, parent, resilient_parsing=True, ignore_unknown_options=True)
        try:
            given, _, _ = self.make_parser(context).parse_args([*args])
        except click.UsageError:
            return None
        first = next(each for each in self.params if isinstance(each, click.Argument))
        name = given.get(first.name or "")
        return name if name in self.others else None
