package cusparse

import (
	"math/bits"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
)

// This file launches kernels/short.cu, the rows of C = A ⊗ B of few products.

// shortClasses are the classes of rows whose products are sorted, by how many they are at most.
var shortClasses = [...]shortClass{{32, 16}, {32, 8}, {32, 4}, {32, 2}, {16, 2}, {8, 2}}

// shortClass says how many lanes sort the products of a row, and how many of them a lane has.
type shortClass struct{ lanes, each int }

// hashedRows is the class of rows that are hashed, a warp each.
var hashedRows = shortClass{lanes: 32}

func (c shortClass) products() int { return c.lanes * c.each }

// shortRows are rows of a class, as a range of the order.
type shortRows struct {
	class    shortClass
	from, to int64
}

const (
	// lightProducts is how many products a light row may have. A dense accumulator
	// beyond costs as much as C is wide: from wideProduct columns on, it is lightWide.
	lightProducts = 512
	lightWide     = 768
	wideProduct   = 1 << 17
	// fewRows are not worth launches of their own: a row more products than its class has.
	fewRows = 4096
	// readEntries is from how many hashed rows on the host asks for the longest of C.
	readEntries = 1 << 15
)

// lightProducts is the number of products from which a row is heavy.
func (g *spgemm) lightProducts(method string) int64 {
	switch l := g.f.d.spgemm.light; {
	case method == methodSPA:
		return 0
	case l > 0:
		return int64(l)
	case g.n >= wideProduct && g.hashedShared(lightWide) <= g.f.d.props.SharedPerBlock:
		return lightWide
	}
	return lightProducts
}

// rowLanes is how many lanes count the products of a row of A.
func (g *spgemm) rowLanes() int {
	if g.f.d.choice.all {
		g.counting(4)
		g.counting(8)
	}
	switch mean := g.a.known() / max(g.m, 1); {
	case mean <= 6:
		return 4
	case mean <= 24:
		return 8
	}
	return 32
}

// classify divides the light rows into classes. A few rows are of the class before, if there is
// one.
func (g *spgemm) classify() {
	if g.f.d.choice.all {
		for _, c := range shortClasses {
			g.short = append(g.short, shortRows{c, 0, 1})
		}
		return
	}
	from, limits, few := g.heavy, g.f.d.spgemm, int64(fewRows)
	if limits.apart {
		few = 1
	}
	for c := range len(shortClasses) + 1 {
		class, to := hashedRows, g.rows
		if c > 0 && !limits.hashed {
			class = shortClasses[c-1]
		}
		if c < len(shortClasses) {
			to = max(g.above[c], g.heavy)
		}
		switch last := len(g.short) - 1; {
		case to == from:
		case last >= 0 && (to-from < few || limits.hashed):
			g.short[last].to = to
		default:
			g.short = append(g.short, shortRows{class, from, to})
		}
		from = to
	}
}

// hashedRoom is the number of places of the hash table of a row of C, and hashedShared the bytes of
// a block of such tables.
func hashedRoom(entries int64) int { return max(32, 1<<bits.Len(uint(max(3*entries/2, 1)-1))) }

func (g *spgemm) hashedShared(entries int64) int {
	return hashedWarps * hashedRoom(entries) * (g.s.Add.Out.Size + 8)
}

// hashedWarps is the number of warps of a block of hb_short_hashed.
const hashedWarps = 4

// shortKey is the type of the keys of a class: 64 bits where C has too many columns.
func (g *spgemm) shortKey(c shortClass) (word string, size, place int) {
	place = bits.Len(uint(max(c.products(), 1) - 1))
	if g.n >= 1<<(32-place) {
		return "hb_u64", 8, place
	}
	return "hb_u32", 4, place
}

// shortKernel returns a kernel of short.cu for a class.
func (g *spgemm) shortKernel(c shortClass, numeric bool) (*kernel, int) {
	word, size, place := g.shortKey(c)
	with := func(p *program) *program {
		p.flag("HB_SHORT_NUMERIC", numeric).define("HB_SHORT_LANES", c.lanes).define("HB_SHORT_EACH", c.each)
		return p.define("HB_SHORT_BITS", place).define("HB_KEY", word)
	}
	groups := 256 / c.lanes
	if !numeric {
		type shortCountKey struct {
			c    shortClass
			word string
		}
		p := g.f.once(shortCountKey{c, word}, func() *program { return with(compose("short", "structures")) })
		return g.f.kernel(p, "hb_short_count"), groups * 2 * c.products() * 4
	}
	type shortNumericKey struct {
		product productKey
		c       shortClass
		word    string
	}
	key := shortNumericKey{productKey{s: g.s, bareA: g.a.val == nil, bareX: g.b.val == nil}, c, word}
	p := g.f.once(key, func() *program { return with(g.composedOf("short")) })
	if c.each == 0 {
		return g.f.kernel(p, "hb_short_hashed"), 0
	}
	return g.f.kernel(p, "hb_short"), groups * c.products() * (size + g.s.Add.Out.Size)
}

// countShort counts the entries of the light rows.
func (g *spgemm) countShort(counts *mem) {
	for _, r := range g.short {
		class, most := r.class, driver.Ptr(0)
		if class.each == 0 { // tables of the class of most products, three quarters full
			class, most = shortClasses[0], g.limits+8*spgemmMost
			for int64(class.products())*3/2 < g.light {
				class.each *= 2
			}
		}
		k, shared := g.shortKernel(class, false)
		per := max(1, min(8, g.f.d.props.SharedPerSM/(shared+1024)))
		g.launchShort(k, r, 256, per, shared, int32(g.nb), r.from, r.to, g.a.ptr, g.aidx, g.bptr, g.b.idx, g.order, most, counts)
	}
}

// launchShort launches a kernel of a group of lanes a row, with so many blocks on a multiprocessor.
func (g *spgemm) launchShort(k *kernel, r shortRows, threads, per, shared int, args ...any) {
	grid := g.fill(r.to-r.from, int64(threads/r.class.lanes), int64(per))
	g.f.launch(k, [3]uint32{uint32(grid), 1, 1}, [3]uint32{uint32(threads), 1, 1}, shared, args...)
}

// computeShort computes the light rows of C.
func (g *spgemm) computeShort(at *mem, out *store) {
	f, p := g.f, g.f.d.props
	for _, r := range g.short {
		k, shared := g.shortKernel(r.class, true)
		if r.class.each > 0 {
			per := max(1, min(p.ThreadsPerSM/256, p.SharedPerSM/(shared+1024)))
			g.launchShort(k, r, 256, per, shared, int32(g.nb), r.from, r.to, g.a.ptr, g.aidx, g.a.val, g.bptr, g.b.idx, g.b.val,
				g.order, at, out.idx, out.val)
			continue
		}
		most := g.light
		if r.to-r.from >= readEntries {
			f.download(unsafe.Pointer(&most), g.limits+8*spgemmMost, 8)
		}
		shared = g.hashedShared(most)
		per := max(1, min(p.ThreadsPerSM/(32*hashedWarps), p.SharedPerSM/(shared+1024)))
		g.launchShort(k, r, 32*hashedWarps, per, shared, int32(g.nb), r.from, r.to, int32(hashedRoom(most)), g.a.ptr, g.aidx, g.a.val, g.bptr, g.b.idx, g.b.val,
			g.order, at, out.idx, out.val)
	}
}
