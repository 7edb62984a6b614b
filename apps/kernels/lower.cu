// The least of values that several threads store.

// hb_lower sets *p to the lesser of *p and x, and returns the old value.
// Floats that are not negative are in the order of their bits.
HB_DEVICE int hb_lower(int *p, int x) { return atomicMin(p, x); }
HB_DEVICE hb_u32 hb_lower(hb_u32 *p, hb_u32 x) { return atomicMin(p, x); }
HB_DEVICE hb_i64 hb_lower(hb_i64 *p, hb_i64 x) { return atomicMin(p, x); }
HB_DEVICE hb_u64 hb_lower(hb_u64 *p, hb_u64 x) { return atomicMin(p, x); }
HB_DEVICE float hb_lower(float *p, float x) { return __int_as_float(atomicMin((int *)p, __float_as_int(x))); }
HB_DEVICE double hb_lower(double *p, double x) {
	return __longlong_as_double(atomicMin((hb_i64 *)p, (hb_i64)__double_as_longlong(x)));
}
