"""What tiletwin finds, in files that programs read: JSON, and SARIF 2.1.0 for code scanning (docs/ci.md).

Read first: results.py (what a result is), then output.py (who writes when). rules.py has the kinds of results, sarif.py
and json_text.py the formats.
"""
