"""The building blocks of all commands: options, questions, tables, sentences."""
