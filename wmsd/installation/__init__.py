"""The composition root: creates every part of an installation and connects the parts."""
