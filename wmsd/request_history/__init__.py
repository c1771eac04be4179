"""The last requests of each company: the request, the answer, and the reason for a refusal."""
