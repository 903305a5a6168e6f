"""GPUs under load: what each of them does, side by side, and which is slower or sicker than the pool's others."""
