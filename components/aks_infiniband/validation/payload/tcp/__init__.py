"""TCP over the pods' networks, measured by sockperf."""
