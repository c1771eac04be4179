"""Papers: what stands on the papers of a company, such as its address and its logo."""
