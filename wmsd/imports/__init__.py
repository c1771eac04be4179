"""Imports of files as people have them: what is understood of one, its preview, its run, and taking it back."""
