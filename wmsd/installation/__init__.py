"""Makes every part of an installation and hands it down: the composition root."""
