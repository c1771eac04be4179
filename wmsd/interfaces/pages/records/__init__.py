"""Pages on which people list, read and change the records of a company."""
