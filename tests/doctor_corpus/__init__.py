"""A corpus of broken clusters for the doctor: what was broken in rehearsals, what each showed, and what has to be said.

`python -m tests.doctor_corpus` prints the score; `python -m tests.doctor_corpus.record KUBECONFIG STACK` breaks a kept
rehearsal again and records its state.
"""
