/* The count of the processor's clock, which an emulated processor shows as its own. */
unsigned long long ticks(void)
{
	return __builtin_ia32_rdtsc();
}
