"""What the documents share: the records that they refer to."""
