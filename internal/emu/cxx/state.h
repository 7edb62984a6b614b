// The state shared by kernels and the runtime.

struct hb_emu_uint3 { unsigned x, y, z; };

struct hb_emu_state {
	hb_emu_uint3 thread, block, block_dim, grid_dim; // of the running thread
	int lane;
	unsigned char *shared; // dynamic shared memory of the block
	hb_emu_u64 (*warp)(int op, unsigned mask, hb_emu_u64 value, int lane);
	int (*barrier)(int op, int predicate);
	hb_emu_u64 (*clock)();
	void (*trap)(const char *why); // does not return
};

enum { HB_EMU_SYNC, HB_EMU_COUNT, HB_EMU_OR, HB_EMU_AND };

enum {
	HB_EMU_SYNCWARP, HB_EMU_SHUFFLE, HB_EMU_BALLOT, HB_EMU_ANY, HB_EMU_ALL, HB_EMU_MATCH, HB_EMU_MATCH_ALL,
	HB_EMU_REDUCE_ADD, HB_EMU_REDUCE_MIN, HB_EMU_REDUCE_MAX, HB_EMU_REDUCE_AND, HB_EMU_REDUCE_OR, HB_EMU_REDUCE_XOR
};
