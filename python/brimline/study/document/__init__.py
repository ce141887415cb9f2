"""The document of a study as a report: parts in the order of test reports, every table and chart with its number."""
