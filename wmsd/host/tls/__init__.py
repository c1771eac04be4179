"""TLS: certificates of files, or of an authority of the installation's own for the LAN."""
