"""How the keys of the installation outlive the box: passphrases, recovery phrases, and whether there is one."""
