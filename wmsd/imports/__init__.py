"""CSV files as people have them: reads, previews, imports, exports and takes back."""
