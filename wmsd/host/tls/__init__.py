"""TLS: certificates from files, or from an authority of the installation for the LAN."""
