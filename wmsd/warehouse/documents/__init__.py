"""The declaration of kinds of documents, and the code that all kinds share."""
