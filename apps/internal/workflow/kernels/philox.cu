// Random numbers by counter and key, for search.cu and sage.cu. Go defines HB_PHILOX_ROUNDS.

// hb_philox is philox.Block of package internal/philox.
HB_DEVICE void hb_philox(hb_u64 low, hb_u64 high, hb_u64 key, hb_u64 &first, hb_u64 &second) {
	hb_u32 c0 = (hb_u32)low, c1 = (hb_u32)(low >> 32), c2 = (hb_u32)high, c3 = (hb_u32)(high >> 32);
	hb_u32 k0 = (hb_u32)key, k1 = (hb_u32)(key >> 32);
#pragma unroll
	for (int r = 0; r < HB_PHILOX_ROUNDS; r++) {
		const hb_u64 p = (hb_u64)0xD2511F53u * c0, q = (hb_u64)0xCD9E8D57u * c2;
		c0 = (hb_u32)(q >> 32) ^ c1 ^ k0;
		c1 = (hb_u32)q;
		c2 = (hb_u32)(p >> 32) ^ c3 ^ k1;
		c3 = (hb_u32)p;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	first = (hb_u64)c1 << 32 | c0;
	second = (hb_u64)c3 << 32 | c2;
}
