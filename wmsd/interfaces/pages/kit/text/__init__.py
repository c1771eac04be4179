"""Text in the language of the page: sentences, words, numbers, moments, measures."""
