// hb_atomic_add(p, v): *p = hb_add(*p, v), for elements of 1, 2, 4 or 8 bytes.
// HB_C, hb_add; HB_NATIVE names the hardware's atomic where it has one, with
// HB_NATIVE_T the type that it takes.

#ifdef HB_NATIVE
HB_DEVICE void hb_atomic_add(HB_C *p, HB_C v) { HB_NATIVE((HB_NATIVE_T *)p, (HB_NATIVE_T)v); }
#else
template <class W> union hb_word {
	W w;
	HB_C c;
	__device__ hb_word(W x) : w(x) {}
};

HB_DEVICE void hb_atomic_add(HB_C *p, HB_C v) {
#if HB_SIZE == 8
	typedef hb_u64 word;
#else
	typedef hb_u32 word;
#endif
	// A smaller element is a part of the word around it.
	hb_u64 at = (hb_u64)p & (sizeof(word) - sizeof(HB_C));
	word *q = (word *)((hb_u64)p - at), seen = *(volatile word *)q, was;
	int shift = (int)at * 8;
	const word all = ~(word)0, mask = sizeof(HB_C) == sizeof(word) ? all : (((word)1 << (sizeof(HB_C) * 8 % (sizeof(word) * 8))) - 1) << shift;
	do {
		was = seen;
		hb_word<word> old((was & mask) >> shift), now(0);
		now.c = hb_add(old.c, v);
		seen = atomicCAS(q, was, (was & ~mask) | (now.w << shift & mask));
	} while (seen != was);
}
#endif
