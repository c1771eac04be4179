"""All settings, each declared with its default, its check and its comment.

A flag overrides the environment (`WMSD_SECTION_KEY`), the environment overrides the TOML file, and the file
overrides the default. `config.example.toml` is generated from these declarations, and a test compares them.
"""
