"""Studies: ordered experiments of any verb, and the document that they end in.

spec ──words──▶ commands ──run──▶ records ──document──▶ report ──writing──▶ HTML, Markdown, DOCX, PDF

A study knows verbs only by their words, as people type them, and records only as any report has them. So a verb that is
added can be used in a study at once.
"""
