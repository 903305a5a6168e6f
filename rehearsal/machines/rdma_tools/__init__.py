"""The simulated RDMA tools of the folder `bin`: what they print is what the real ones print.

A tool is started hundreds of times, so nothing here imports more of the rehearsal than `rehearsal.faults`.
"""
