"""Measurements on real GPUs, of the collective payload against a plain loop; see docs/measurements.md."""
