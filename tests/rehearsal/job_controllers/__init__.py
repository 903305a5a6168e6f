"""Every example of a job, made into pods by the real controller of its kind."""
