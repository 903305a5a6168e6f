"""The programs of a pool's sample Job; `workload_sample` makes the Job."""
