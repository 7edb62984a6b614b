// Runs of equal keys among sorted ones.

HB_KERNEL hb_key_heads(const hb_u64 *keys, hb_i64 n, hb_u8 *flag) {
	HB_EACH(t, n) flag[t] = t == 0 || keys[t] != keys[t - 1];
}

// starts[r] = first item of run r; out keys beside it; starts[runs] = n.
HB_KERNEL hb_key_runs(const hb_u64 *keys, hb_i64 n, const hb_u8 *flag, const hb_i64 *at, hb_i64 *starts, hb_u64 *runKeys) {
	HB_EACH(t, n) {
		if (flag[t]) {
			starts[at[t]] = t;
			runKeys[at[t]] = keys[t];
		}
		if (t == n - 1) starts[at[n]] = n;
	}
}
