"""Owns scans: queries one after another on one collection, with and without each index."""
