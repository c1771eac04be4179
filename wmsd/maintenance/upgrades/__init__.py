"""Changes to another version: copies of the files, a rehearsal on them, and the way back."""
