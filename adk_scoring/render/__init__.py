"""Reports, cases and alignments for people: text, Markdown, HTML. Nothing here computes a number."""
