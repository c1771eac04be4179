"""The protection of the keys against loss of the machine: passphrases and recovery phrases."""
