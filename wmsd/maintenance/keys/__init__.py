"""How the keys of the installation outlive the machine: passphrases and recovery phrases."""
