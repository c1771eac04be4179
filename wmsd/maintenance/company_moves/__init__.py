"""Moves of companies in and out of an installation: freeze, export, import, move and deletion."""
