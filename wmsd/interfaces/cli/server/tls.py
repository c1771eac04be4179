"""The command `wmsd tls`."""

import json
from pathlib import Path

import click

from wmsd.interfaces.cli.kit.command_line import CommandLine, fail, json_option, note, with_installation

NONE_YET = (
    "There is no certificate authority yet. The server creates it when it starts with --tls lan "
    '(server.tls = "lan").'
)


@click.group()
def tls_command() -> None:
    """Show the certificate of the LAN, and how to trust it.

    With --tls lan the server creates its own certificate authority, and a certificate for the names and addresses
    of this machine. On a device where the authority is installed once, the browser shows no warning. /trust says
    how to install it on each system.
    """


@tls_command.command("show")
@json_option
@with_installation
def show(command_line: CommandLine, as_json: bool) -> None:
    """Show the authority's fingerprint and the certificate's names."""
    from wmsd.host.tls.authority import certificate_fingerprint
    from wmsd.host.tls.lan_certificate import authority_of, names_of, served_of

    command_line.say_folder()
    data = command_line.folder.path
    authority, served = authority_of(data), served_of(data)
    if authority is None or served is None:
        fail([NONE_YET])
    found = {
        "fingerprint": certificate_fingerprint(authority),
        "authority_until": f"{authority.not_valid_after_utc:%Y-%m-%d}",
        "certificate_until": f"{served.not_valid_after_utc:%Y-%m-%d}",
        "names": [*names_of(served)],
    }
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    lines = (
        f"Authority (SHA-256):  {found['fingerprint']}",
        f"Valid until:          {found['authority_until']}",
        f"The certificate is for {', '.join(found['names'])}",
        f"and is renewed before {found['certificate_until']}.",
    )
    click.echo("\n".join(lines))
    note(
        "Before you install the authority on another machine, compare this fingerprint with the "
        "fingerprint shown there."
    )


@tls_command.command("export")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@with_installation
def export(command_line: CommandLine, file: Path) -> None:
    """Write the authority's certificate to FILE, to install it elsewhere. The private key stays here."""
    from cryptography.hazmat.primitives.serialization import Encoding

    from wmsd.host.tls.lan_certificate import authority_of

    command_line.say_folder()
    authority = authority_of(command_line.folder.path)
    if authority is None:
        fail([NONE_YET])
    file.write_bytes(authority.public_bytes(Encoding.PEM))
    note(
        f"The authority's certificate is in {file}. Install the file as a trusted root; the page /trust says how."
    )
