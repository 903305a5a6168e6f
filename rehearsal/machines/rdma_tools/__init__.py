"""What the simulated RDMA tools of the folder bin are made of: nothing but the standard library, quick to start."""
