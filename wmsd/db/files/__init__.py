"""The files of all companies: which are open, whether they are whole, how one is read without a write."""
