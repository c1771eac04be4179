"""Whether a file is right: the checks that the doctor and the proof of a backup share."""
