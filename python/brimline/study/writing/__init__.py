"""A study's document as files: HTML, Markdown, DOCX and PDF, with pictures of its charts where Chromium is."""
