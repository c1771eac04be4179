"""What every command is made with: options, questions, tables, sentences."""
