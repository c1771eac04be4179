"""Changes to another version: copies of the files as they were, a rehearsal on copies, and the way back."""
