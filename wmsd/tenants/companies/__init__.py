"""Operators, companies and their modules: the tenants of the installation."""
