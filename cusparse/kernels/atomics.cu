template <bool, class A, class B> struct hb_choice { using type = A; };
template <class A, class B> struct hb_choice<false, A, B> { using type = B; };

// hb_atomic_add adds y to *p by ⊕, for elements of 1, 2, 4 or 8 bytes. HB_NATIVE is the instruction
// that does so, if there is one.
HB_DEVICE void hb_atomic_add(HB_C *p, HB_C y) {
#ifdef HB_NATIVE
	HB_NATIVE;
#else
	using word = hb_choice<sizeof(HB_C) == 8, hb_u64, hb_u32>::type;
	union view {
		word w;
		HB_C at[sizeof(word) / sizeof(HB_C)];
	};
	const int k = (int)((hb_u64)p % sizeof(word) / sizeof(HB_C));
	word *at = (word *)((hb_u64)p - k * sizeof(HB_C));
	view now, next;
	now.w = *(volatile word *)at;
	for (;;) {
		next.w = now.w;
		next.at[k] = hb_add(now.at[k], y);
		if (next.w == now.w) return; // such as the least of two
		word seen = atomicCAS(at, now.w, next.w);
		if (seen == now.w) return;
		now.w = seen;
	}
#endif
}
