"""The site of all pages: `make site`."""
