"""What the machine has to do with the program: systemd, certificates, the packed file, processes."""
